import { describe, expect, it } from "vitest";
import { createSigner } from "../../fakes/signing.ts";
import { startMirror, type RunningMirror } from "../../running-mirror.ts";
import {
  eventually,
  listedIn,
  outcomeOf,
  reconfigure,
  requestsFor,
  runCommand,
} from "../../scenes/provider-requests.ts";
import { startOrigin } from "../../scenes/world.ts";
import { RegistryRequests } from "../../scenes/registry-requests.ts";

/** Release that must be refused; without `listed` versions index.json is refused, too. */
interface Subject {
  readonly code: "policy-denied" | "too-young" | "key-refused";
  readonly type: string;
  readonly version: string;
  readonly listed: readonly string[];
}

const subjects: readonly Subject[] = [
  {
    code: "policy-denied",
    type: "partly",
    version: "2.0.0",
    listed: ["1.0.0"],
  },
  { code: "policy-denied", type: "wholly", version: "1.0.0", listed: [] },
  { code: "too-young", type: "young", version: "1.1.0", listed: ["1.0.0"] },
  { code: "too-young", type: "young", version: "1.2.0", listed: ["1.0.0"] },
  { code: "too-young", type: "newborn", version: "1.0.0", listed: [] },
  { code: "key-refused", type: "held", version: "2.0.0", listed: ["1.0.0"] },
  { code: "key-refused", type: "pinned", version: "2.0.0", listed: ["1.0.0"] },
  { code: "key-refused", type: "foreign", version: "1.0.0", listed: [] },
];

/** Documents stay as they are unless the rules say otherwise. */
const lasting = { versions: "10m" };

/** Collects the answers of each path for a subject; all must be refusals. */
async function answersFor({ type, version }: Subject) {
  const ask = requestsFor(mirror, type);
  const registry = new RegistryRequests(mirror, type);
  const [versions, ...published] = await Promise.all(
    ["versions", ...registry.pathsOf(version)].map((path) =>
      registry.get(path),
    ),
  );
  const [index, document, get, head, range] = await Promise.all([
    ask.index(),
    ask.version(version),
    ask.archive(version),
    ask.archive(version, { method: "HEAD" }),
    ask.archive(version, { headers: { Range: "bytes=0-9" } }),
  ]);
  return { index, document, get, head, range, versions, published };
}

function isListed(
  { listed }: Subject,
  index: Parameters<typeof listedIn>[0],
): boolean {
  const versions = listedIn(index);
  return typeof versions === "string"
    ? listed.length === 0 && index.status === 451
    : listed.length > 0 && versions.join() === listed.join();
}

/** The paths that do not refuse it as they should. */
async function servedOf(subject: Subject): Promise<readonly string[]> {
  const { index, document, get, head, range, versions, published } =
    await answersFor(subject);
  const [facade, ...proof] = published.map(outcomeOf);
  const refusal = `451 ${subject.code}`;
  const paths = {
    index: isListed(subject, index),
    version: outcomeOf(document) === refusal,
    GET: outcomeOf(get) === refusal,
    HEAD: head.status === 451,
    range: outcomeOf(range) === refusal,
    "façade versions": versions !== undefined && isListed(subject, versions),
    "façade package": facade === refusal,
    "façade proof": proof.every((outcome) => outcome === refusal),
  };
  return Object.entries(paths).flatMap(([path, isRefused]) =>
    isRefused ? [] : [`${subject.type} ${subject.version} by ${path}`],
  );
}

/** Every path of every subject that does not refuse it. */
async function allServed(): Promise<readonly string[]> {
  const all: string[] = [];
  for (const subject of subjects) all.push(...(await servedOf(subject)));
  return all;
}

async function restart(config: Readonly<Record<string, unknown>>) {
  await mirror.stop();
  mirror = await startMirror({ config, directory: mirror.directory });
}

const { registry, config } = await startOrigin();
const known = await createSigner({ name: "Known" });
const other = await createSigner({ name: "Other" });
const publish = (type: string, version: string, options = {}) =>
  registry.publish({ type, version, signer: known, size: 20_000, ...options });
const justNow = new Date(Date.now() - 60_000);
await publish("partly", "1.0.0");
await publish("partly", "2.0.0");
await publish("wholly", "1.0.0");
await publish("young", "1.0.0");
await publish("young", "1.1.0", { signedAt: justNow });
await publish("newborn", "1.0.0", { signedAt: justNow });
await publish("held", "1.0.0");
await publish("pinned", "1.0.0");
await publish("foreign", "1.0.0", { signer: other });
let base: Readonly<Record<string, unknown>> = {
  ...config,
  freshness: { versions: "0" },
};
const rules = {
  policy: {
    rules: [
      { match: "*/acme/partly", action: "deny", versions: ">= 2.0" },
      { match: "*/acme/wholly", action: "deny" },
      ...["young", "newborn"].map((type) => ({
        ...{ match: `*/acme/${type}`, action: "allow", minimumAge: "7d" },
      })),
    ],
  },
  trust: {
    keys: ["pinned", "foreign"].map((type) => ({
      match: `registry.terraform.io/acme/${type}`,
      fingerprints: [known.fingerprint],
    })),
  },
};
let mirror: RunningMirror = await startMirror({ config: base });
for (const type of ["partly", "wholly", "young", "newborn", "held", "pinned"])
  expect(await requestsFor(mirror, type).delivery("1.0.0")).toBe("200");
await publish("young", "1.2.0");
await publish("pinned", "2.0.0", { signer: other });
// Only what was held back can be approved.
await requestsFor(mirror, "pinned").version("2.0.0");
const approve = ["trust", "approve", "acme/pinned@2.0.0"];
const { status } = await runCommand(mirror, ...approve);
expect(status).toBe(0);
for (const { type, version } of subjects.filter(({ type }) => type !== "held"))
  await eventually(
    () => requestsFor(mirror, type).archive(version),
    (answer) => answer.status === 200,
  );
base = { ...base, freshness: lasting };
await restart(base);

describe("what the rules, its age or its key keep out", () => {
  it("is refused after SIGHUP, though it was served from the store before", async () => {
    // A key that no release was accepted under: `other` was approved for "pinned", so this one is a third.
    const stranger = await createSigner({ name: "Stranger" });
    await publish("held", "2.0.0", { signer: stranger });
    for (const subject of subjects) await answersFor(subject);
    reconfigure(mirror, rules);
    await expect.poll(allServed).toEqual([]);
  });

  it("is refused on every path after a restart, though it is stored", async () => {
    await restart({ ...base, ...rules });
    expect(await allServed()).toEqual([]);
  });

  it("is refused while the origin is down and answers are stale", async () => {
    await restart({
      ...base,
      ...rules,
      freshness: { versions: "0" },
    });
    await registry.stop();
    try {
      expect(await allServed()).toEqual([]);
      const ask = requestsFor(mirror, "held");
      expect(await ask.delivery("1.0.0")).toBe("200");
    } finally {
      await registry.restart();
    }
  });

  it("is refused by an offline mirror", async () => {
    await restart({ ...base, ...rules, offline: true });
    const before = registry.requests.count();
    expect(await allServed()).toEqual([]);
    expect(registry.requests.count()).toBe(before);
  });
});
