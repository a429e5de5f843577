import { readMetric } from "../../scenes/provider-requests.ts";
import { expect, it } from "vitest";
import {
  awaitLine,
  awaitLineOf,
  type LogLine,
} from "../../scenes/log-lines.ts";
import {
  eventually,
  listedIn,
  outcomeOf,
  reconfigure,
} from "../../scenes/provider-requests.ts";
import { signer, TrustScene } from "../../scenes/trust-scene.ts";

const deny = { match: "*/some/*", action: "deny", versions: "< 0.3" };
const age = { match: "*/some/*", action: "allow", minimumAge: "7d" };
const whole = { match: "*/whole/*", action: "deny" };
const policy = { rules: [deny, age, whole] };
const reporting = { ...policy, mode: "report" };

const [own, other] = await Promise.all([signer("own"), signer("other")]);
const scene = await TrustScene.start();
const old = { signedAt: new Date("2024-01-01T00:00:00Z") };
for (const version of ["0.1.0", "1.0.0"])
  await scene.publish("some", version, own, old);
await scene.publish("whole", "1.0.0", own, old);
await scene.ask("some").index();
await scene.publish("some", "1.1.0", own, { signedAt: new Date() });
await scene.publish("some", "2.0.0", other, old);
await scene.ask("some").index();
// Fresh for so long that no origin is asked.
await scene.revive({
  policy: reporting,
  freshness: { versions: "1h" },
});

function countReported(code: string): Promise<number> {
  const series = `provender_policy_reported_total{code="${code}"}`;
  return readMetric(scene.mirror, series);
}

it("serves what the policy would refuse, and tells of it everywhere", async () => {
  const { mirror } = scene;
  await awaitLine(mirror, ({ msg }) =>
    String(msg).startsWith("policy.mode is"),
  );
  expect((await mirror.get("/")).body.toString()).toContain("only reports");
  // A busy machine may not have looked at what is new in time.
  const index = await eventually(
    () => scene.ask("some").index(),
    (answer) => listedIn(answer).length > 2,
  );
  expect(listedIn(index)).toEqual(["0.1.0", "1.0.0", "1.1.0"]);
  expect(await awaitLineOf(mirror, index)).toMatchObject({
    leftOut: { held: 1 },
    reported: { denied: 1, young: 1 },
  });
  expect(await countReported("policy-denied")).toBe(0);
  expect(await scene.ask("some").delivery("0.1.0")).toBe("200");
  expect(await scene.ask("some").outcome("1.1.0")).toBe("200");
  expect((await scene.ask("whole").index()).status).toBe(200);
  expect(await countReported("policy-denied")).toBe(2);
  expect(await countReported("too-young")).toBe(1);
  const lines = await eventually(
    async () => {
      await mirror.get("/healthz");
      return ["refused", "left-out"].flatMap((event) =>
        scene.auditOf("some", event),
      );
    },
    (found) => found.filter(({ verdict }) => verdict === "reported").length > 2,
  );
  const noted = lines.map(({ verdict, reason }) => [verdict, reason]);
  expect(noted.slice(0, 2)).toEqual([
    ["reported", "policy-denied"],
    ["reported", "too-young"],
  ]);
  expect(noted.slice(2)).toContainEqual(["refused", undefined]);
  expect(noted.slice(2)).toContainEqual(["reported", undefined]);
  const path = "/why/registry.terraform.io/some/thing/0.1.0";
  const why = (await mirror.get(path)).body.toString();
  expect(why).toContain("Clients get it");
  expect(why).toContain("denied by policy.rules[0]");
  expect(why).toContain("The policy only reports");
});

it("refuses by signatures and keys as ever", async () => {
  const answer = await scene.ask("some").version("2.0.0");
  expect(outcomeOf(answer)).toBe("451 key-refused");
});

it("changes by SIGHUP within a second, also for what was answered before", async () => {
  const { mirror } = scene;
  const changeTo = async (next: object) => {
    const after = mirror.log.length;
    reconfigure(mirror, { policy: next });
    const isLoaded = ({ msg }: LogLine) => msg === "policy and trust loaded";
    await awaitLine(mirror, isLoaded, after);
  };
  const asked = scene.ask("some");
  expect(await asked.listed()).toContain("0.1.0");
  await changeTo(policy);
  expect(await asked.listed()).toEqual(["1.0.0"]);
  expect(await asked.outcome("0.1.0")).toBe("451 policy-denied");
  expect(outcomeOf(await scene.ask("whole").index())).toBe("451 policy-denied");
  expect((await mirror.get("/")).body.toString()).not.toContain("only reports");
  const noted = () =>
    mirror.log.filter(({ msg }) => String(msg).startsWith("policy.mode is"));
  expect(noted()).toHaveLength(1);
  await changeTo(reporting);
  expect(noted()).toHaveLength(2);
  expect(await asked.listed()).toContain("0.1.0");
  expect(await asked.outcome("0.1.0")).toBe("200");
});
