import { expect, it } from "vitest";
import { parseVersion } from "../../../src/address/version.ts";
import { failure } from "../../../src/errors/index.ts";
import {
  formatLeftOut,
  leaveOutRefused,
} from "../../../src/mirror/trust/left-out.ts";
import type { RunningMirror } from "../../running-mirror.ts";
import { awaitLine, awaitLineOf } from "../../scenes/log-lines.ts";
import {
  awaitAudit,
  eventually,
  listedIn,
  outcomeOf,
  readMetric,
  reconfigure,
  requestsFor,
} from "../../scenes/provider-requests.ts";
import { address } from "../../scenes/release-sketches.ts";
import { signer, startTrustScene } from "../../scenes/trust-scene.ts";

const host = "registry.terraform.io";
const [own, other] = await Promise.all([signer("own"), signer("other")]);
const scene = await startTrustScene();
const start = (policy: object) => scene.startMirror({ policy });

async function publish(
  namespace: string,
  signedAt: Date,
  ...versions: readonly string[]
) {
  for (const version of versions)
    await scene.publish(namespace, version, own, { signedAt });
}

const loaded = "policy and trust loaded";
const old = new Date("2024-01-01T00:00:00Z");
const rulesFor = (namespace: string) => [
  { match: `*/${namespace}/*`, action: "deny", versions: "< 0.3" },
  { match: `*/${namespace}/*`, action: "allow", minimumAge: "7d" },
];

/** A provider of which versions are denied (0.1.0, 0.2.0), too young (1.1.0) and held back because of their key (2.0.0). */
async function meet(mirror: RunningMirror, namespace: string) {
  const ask = scene.ask(namespace, mirror);
  await publish(namespace, old, "0.1.0", "0.2.0", "1.0.0");
  await ask.index();
  await publish(namespace, new Date(), "1.1.0");
  await scene.publish(namespace, "2.0.0", other, { signedAt: old });
  return ask;
}

async function warningsOf(mirror: RunningMirror, namespace: string) {
  const path = `/v1/providers/${host}/${namespace}/thing/versions`;
  return ((await mirror.get(path)).json() as { warnings: string[] }).warnings;
}

it("what is left out is told to clients, the log and the audit log by rule, age and key", async () => {
  const mirror = await start({ rules: rulesFor("some") });
  await scene.publish("plain", "1.0.0", own);
  const plain = await scene.ask("plain", mirror).index();
  expect(await awaitLineOf(mirror, plain)).not.toHaveProperty("leftOut");
  expect(await warningsOf(mirror, "plain")).toEqual([]);

  const ask = await meet(mirror, "some");
  const index = await ask.index();
  expect(listedIn(index)).toEqual(["1.0.0"]);
  const warnings = await warningsOf(mirror, "some");
  expect(warnings).toEqual([
    expect.stringMatching(
      /^This mirror leaves out, too young: 1\.1\.0 \(until 20\d\d-[\d-]+T[\d:.]+Z\)$/,
    ),
    `This mirror leaves out, held back: 2.0.0 (unknown signing key ${other.fingerprint})`,
    "This mirror leaves out, denied: 0.2.0 (policy.rules[0]), 0.1.0 (policy.rules[0])",
  ]);
  const leftOut = { young: 1, held: 1, denied: 2 };
  for (const answer of [index, await ask.index()])
    expect(await awaitLineOf(mirror, answer)).toMatchObject({ leftOut });
  const lines = await awaitAudit(
    mirror,
    ({ event }) => event === "left-out",
    2,
  );
  // Once for each change: before the two came, and after.
  expect(lines.map(({ verdict, detail }) => [verdict, detail])).toEqual([
    ["refused", `2 denied; ${warnings[2] ?? ""}`],
    ["refused", `1 too young, 1 held back, 2 denied; ${warnings.join("; ")}`],
  ]);
});

it("a warning names a revoked key, and a few versions at most", () => {
  const decision = "revoked by ops for acme";
  const facts = ["KEY", "revoked", "", decision, undefined] as const;
  const refusal = failure("key-refused", address, ...facts);
  const leftOut = Array.from({ length: 9 }, (_, minor) =>
    leaveOutRefused(parseVersion(`1.${minor}.0`), refusal),
  );
  expect(formatLeftOut(leftOut)).toEqual([
    expect.stringMatching(
      /^This mirror leaves out, held back: (?:1\.\d\.0 \(signing key KEY, revoked by ops for acme\)(?:, )?){5} and 4 more$/,
    ),
  ]);
});

it("refusals are in the operator's words, with whom to ask", async () => {
  const mirror = await start({
    minimumAge: "1d",
    contact: "#platform",
    rules: [
      { match: "*/partly/*", action: "deny", because: "use wanted/thing" },
      {
        ...{ match: "*/wanted/*", versions: "2.0.0", action: "deny" },
        because: "it deletes volumes",
      },
    ],
  });
  const partly = await scene.ask("partly", mirror).index();
  expect(partly.reason).toMatch(
    /^Denied by policy\.rules\[0\] of this mirror: use wanted\/thing\. Contact: #platform, see /,
  );
  expect(partly.json()).toMatchObject({
    errors: [expect.stringContaining("(use wanted/thing)")],
    remedy: "use another provider, or ask #platform to allow it",
  });
  await publish("wanted", old, "1.0.0", "2.0.0");
  expect(await warningsOf(mirror, "wanted")).toEqual([
    expect.stringContaining("2.0.0 (policy.rules[1], it deletes volumes)"),
  ]);
  await publish("none", new Date(), "1.0.0");
  const { reason, body } = await scene.ask("none", mirror).index();
  expect(reason).toMatch(
    /^This mirror leaves out every version \(1 too young\)\. Contact: #platform, see https:/,
  );
  expect(body.toString()).toContain("(1 too young): ask #platform.");
});

it("what no rule allows is denied without asking the origin for it, and what is denied of a host that is not served is told from others of it", async () => {
  const elsewhere = "other.example.com";
  const mirror = await start({
    default: "deny",
    rules: [{ match: `${elsewhere}/evil/*`, action: "deny" }],
  });
  scene.registry.requests.clear();
  for (const hostname of [host, elsewhere]) {
    const ask = requestsFor(mirror, "thing", "evil", hostname);
    expect(outcomeOf(await ask.index())).toBe("451 policy-denied");
    expect(await ask.outcome("1.0.0")).toBe("451 policy-denied");
    expect(await ask.delivery("1.0.0")).toBe("451 policy-denied");
  }
  const good = requestsFor(mirror, "thing", "good", elsewhere);
  expect(outcomeOf(await good.index())).toBe("451 origin-not-served");
  expect(scene.registry.requests.count()).toBe(0);
});

const latest = { match: `${host}/lines/*`, versions: "~> 2.1.0" };
it.each([
  // 2.1.0, 2.0.2, 2.0.1, 1.1.1 and 1.0.2.
  [
    "one release of each line for its age, and further only below one that is too young",
    ...([{ minimumAge: "7d" }, 7, 5] as const),
  ],
  // 2.1.0, whose key is learnt at first contact with the same look-up.
  [
    "nothing for versions of which no age is asked",
    { rules: [{ ...latest, action: "allow", minimumAge: "7d" }] },
    ...([8, 1] as const),
  ],
])("a list looks up %s", async (_, policy, listed, lookups) => {
  const versions = "1.0.0 1.0.1 1.0.2 1.1.0 1.1.1 2.0.0 2.0.1".split(" ");
  await publish("lines", old, ...versions);
  await publish("lines", new Date(Date.now() - 60_000), "2.0.2", "2.1.0");
  const freshness = { versions: "10m" };
  const ask = scene.ask(
    "lines",
    await scene.startMirror({ policy, freshness }),
  );
  scene.registry.requests.clear();
  for (let times = 0; times < 2; times++) {
    const found = await ask.listed();
    expect(found).toHaveLength(listed);
    expect(found).not.toContain("2.1.0");
    expect(scene.registry.requests.count("package")).toBe(lookups);
  }
});

it("under policy.mode: report, what the policy would refuse is served and told of, and SIGHUP changes the mode at once", async () => {
  const enforcing = { rules: rulesFor("told") };
  const reporting = { ...enforcing, mode: "report" };
  const mirror = await start(reporting);
  const page = async (path: string) => (await mirror.get(path)).body.toString();
  const noted = () =>
    mirror.log.filter(({ msg }) => String(msg).startsWith("policy.mode is"));
  await awaitLine(mirror, () => noted().length === 1);
  expect(await page("/")).toContain("only reports");
  const counted = (code: string) =>
    readMetric(mirror, `provender_policy_reported_total{code="${code}"}`);

  const ask = await meet(mirror, "told");
  const all = ["0.1.0", "0.2.0", "1.0.0", "1.1.0"];
  const index = await eventually(
    () => ask.index(),
    (answer) => listedIn(answer).length === all.length,
  );
  expect(listedIn(index)).toEqual(all);
  expect(await awaitLineOf(mirror, index)).toMatchObject({
    leftOut: { held: 1 },
    reported: { denied: 2, young: 1 },
  });
  expect(await counted("policy-denied")).toBe(0);
  expect(await ask.delivery("0.1.0")).toBe("200");
  expect(await ask.outcome("1.1.0")).toBe("200");
  expect(await counted("policy-denied")).toBe(1);
  expect(await counted("too-young")).toBe(1);
  // Signatures and keys refuse as ever.
  expect(await ask.outcome("2.0.0")).toBe("451 key-refused");
  const lines = await awaitAudit(
    mirror,
    ({ verdict, reason }) => verdict === "reported" && reason !== undefined,
    2,
  );
  expect(lines.map(({ reason }) => reason).toSorted()).toEqual([
    "policy-denied",
    "too-young",
  ]);
  const why = await page(`/why/${host}/told/thing/0.1.0`);
  for (const said of ["Clients get it", "denied by policy.rules[0]"])
    expect(why).toContain(said);
  expect(why).toContain("The policy only reports");

  for (const [policy, listed, outcome] of [
    [enforcing, ["1.0.0"], "451 policy-denied"],
    [reporting, all, "200"],
  ] as const) {
    const after = mirror.log.length;
    reconfigure(mirror, { policy });
    await awaitLine(mirror, ({ msg }) => msg === loaded, after);
    expect(await ask.listed()).toEqual(listed);
    expect(await ask.outcome("0.1.0")).toBe(outcome);
    const isReporting = policy === reporting;
    expect((await page("/")).includes("only reports")).toBe(isReporting);
    expect(noted()).toHaveLength(isReporting ? 2 : 1);
  }
});
