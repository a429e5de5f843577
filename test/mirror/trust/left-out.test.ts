import { expect, it } from "vitest";
import { awaitLineOf } from "../../scenes/log-lines.ts";
import { eventually, listedIn } from "../../scenes/provider-requests.ts";
import { signer, soon, TrustScene } from "../../scenes/trust-scene.ts";

const [own, other] = await Promise.all([signer("own"), signer("other")]);
const scene = await TrustScene.start();

/** Returns the warnings of a `versions` answer. */
async function warningsOf(namespace: string): Promise<readonly string[]> {
  const path = `/v1/providers/registry.terraform.io/${namespace}/thing/versions`;
  const answer = await scene.mirror.get(path);
  return (answer.json() as { warnings: string[] }).warnings;
}

it("is nothing where clients get every version", async () => {
  await scene.contact("whole", own);
  const index = await scene.ask("whole").index();
  expect(await warningsOf("whole")).toEqual([]);
  expect(await awaitLineOf(scene.mirror, index)).not.toHaveProperty("leftOut");
  expect(scene.auditOf("whole", "left-out")).toEqual([]);
});

it("is reported to clients, the log and the audit log by rule, age and key", async () => {
  const deny = { match: "*/some/*", action: "deny", versions: "< 0.3" };
  const age = { match: "*/some/*", action: "allow", minimumAge: "7d" };
  const old = new Date("2024-01-01T00:00:00Z");
  for (const version of ["0.1.0", "0.2.0", "1.0.0"])
    await scene.publish("some", version, own, { signedAt: old });
  await scene.revive({ policy: { rules: [deny, age] } });
  await scene.ask("some").index();
  const signedAt = new Date();
  await scene.publish("some", "1.1.0", own, { signedAt });
  await scene.publish("some", "2.0.0", other, { signedAt: old });
  const index = await scene.ask("some").index();
  expect(listedIn(index)).toEqual(["1.0.0"]);
  const warnings = await warningsOf("some");
  expect(warnings).toEqual([
    expect.stringMatching(
      /^This mirror leaves out, too young: 1\.1\.0 \(until 20\d\d-[\d-]+T[\d:.]+Z\)$/,
    ),
    `This mirror leaves out, held back: 2.0.0 (unknown signing key ${other.fingerprint})`,
    "This mirror leaves out, denied: 0.2.0 (policy.rules[0]), 0.1.0 (policy.rules[0])",
  ]);
  const counts = { young: 1, held: 1, denied: 2 };
  for (const answer of [index, await scene.ask("some").index()])
    expect(await awaitLineOf(scene.mirror, answer)).toMatchObject({
      leftOut: counts,
    });
  const lines = await eventually(
    async () => {
      await scene.mirror.get("/healthz");
      return scene.auditOf("some", "left-out");
    },
    (found) => found.length > 1,
  );
  // Once for each change: before the two came, and after.
  expect(lines.map(({ verdict, detail }) => [verdict, detail])).toEqual([
    ["refused", `2 denied; ${warnings[2] ?? ""}`],
    ["refused", `1 too young, 1 held back, 2 denied; ${warnings.join("; ")}`],
  ]);
});

it("names a revoked key, and a few versions at most", async () => {
  await scene.revive();
  for (let minor = 0; minor < 9; minor++)
    await scene.publish("many", `1.${minor}.0`, own);
  await scene.contact("many", own);
  await scene.publish("many", "2.0.0", other);
  await scene.ask("many").index();
  const approved = "registry.terraform.io/many";
  await scene.trust("approve", "--key", other.fingerprint, "--for", approved);
  await scene.trust("revoke", "--key", own.fingerprint, "--for", approved);
  const [warning] = await eventually(
    () => warningsOf("many"),
    (warnings) => warnings.join().includes("more"),
    soon * 10,
  );
  expect(warning).toMatch(
    new RegExp(
      `^This mirror leaves out, held back: (?:1\\.\\d\\.0 \\(signing key ${own.fingerprint}, revoked by [^)]* for ${approved}\\)(?:, )?){5} and 4 more$`,
    ),
  );
});

it("is why nothing at all is served", async () => {
  await scene.publish("none", "1.0.0", own, { signedAt: new Date() });
  await scene.revive({ policy: { minimumAge: "1d", contact: "ops" } });
  const { reason, body } = await scene.ask("none").index();
  expect(reason).toMatch(
    /^This mirror leaves out every version \(1 too young\)\. Contact: ops, see https:/,
  );
  expect(body.toString()).toContain("(1 too young): ask ops.");
});
