import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { createAuthority } from "../../fakes/authority.ts";
import { startRegistry, type Registry } from "../../fakes/registry.ts";
import { createSigner } from "../../fakes/signing.ts";
import { startMirror, type RunningMirror } from "../../running-mirror.ts";
import { originsOf } from "../../origins.ts";
import {
  eventually,
  listedIn,
  outcomeOf,
  reconfigure,
  requestsFor,
  runCommand,
} from "../../scenes/provider-requests.ts";
import { RegistryRequests } from "../../scenes/registry-requests.ts";

type Column =
  | "index"
  | "version"
  | "GET"
  | "HEAD"
  | "range"
  | "façade versions"
  | "façade package"
  | "façade proof"
  | "stale"
  | "offline"
  | "SIGHUP";
type Row = "deny" | "minimum age" | "quarantine";

/** Release that must be refused; without `listed` versions index.json is refused, too. */
interface Subject {
  readonly row: Row;
  readonly type: string;
  readonly version: string;
  readonly listed: readonly string[];
}

const refusals = {
  deny: "policy-denied",
  "minimum age": "too-young",
  quarantine: "key-refused",
} as const;

const subjects: readonly Subject[] = [
  { row: "deny", type: "partly", version: "2.0.0", listed: ["1.0.0"] },
  { row: "deny", type: "wholly", version: "1.0.0", listed: [] },
  { row: "minimum age", type: "young", version: "1.1.0", listed: ["1.0.0"] },
  { row: "minimum age", type: "young", version: "1.2.0", listed: ["1.0.0"] },
  { row: "minimum age", type: "newborn", version: "1.0.0", listed: [] },
  { row: "quarantine", type: "held", version: "2.0.0", listed: ["1.0.0"] },
  { row: "quarantine", type: "pinned", version: "2.0.0", listed: ["1.0.0"] },
  { row: "quarantine", type: "foreign", version: "1.0.0", listed: [] },
];
const table = new Map<string, boolean>();

let registry: Registry;
let mirror: RunningMirror;
let base: Readonly<Record<string, unknown>>;
let rules: Readonly<Record<string, unknown>>;

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

function check(column: Column, subject: Subject, refused: boolean): void {
  const cell = `${subject.row} × ${column}`;
  table.set(cell, refused && table.get(cell) !== false);
  expect([cell, subject.type, subject.version, refused]).toEqual([
    cell,
    subject.type,
    subject.version,
    true,
  ]);
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

/** True when every path refuses it. */
async function isRefusedEverywhere(subject: Subject): Promise<boolean> {
  const { index, document, get, head, range, versions, published } =
    await answersFor(subject);
  return (
    isListed(subject, index) &&
    versions !== undefined &&
    isListed(subject, versions) &&
    [document, get, range, ...published].every(
      (answer) => outcomeOf(answer) === `451 ${refusals[subject.row]}`,
    ) &&
    head.status === 451
  );
}

async function restart(config: Readonly<Record<string, unknown>>) {
  await mirror.stop();
  mirror = await startMirror({ config, directory: mirror.directory });
}

beforeAll(async () => {
  const authority = await createAuthority();
  registry = await startRegistry({ authority });
  const known = await createSigner({ name: "Known" });
  const other = await createSigner({ name: "Other" });
  const publish = (type: string, version: string, options = {}) =>
    registry.publish({
      type,
      version,
      signer: known,
      size: 20_000,
      ...options,
    });
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
  base = {
    ...originsOf(authority, registry),
    freshness: { versions: "0" },
  };
  rules = {
    policy: {
      rules: [
        {
          match: "registry.terraform.io/acme/partly",
          action: "deny",
          versions: ">= 2.0",
        },
        { match: "registry.terraform.io/acme/wholly", action: "deny" },
        {
          match: "registry.terraform.io/acme/young",
          action: "allow",
          minimumAge: "7d",
        },
        {
          match: "registry.terraform.io/acme/newborn",
          action: "allow",
          minimumAge: "7d",
        },
      ],
    },
    trust: {
      keys: ["pinned", "foreign"].map((type) => ({
        match: `registry.terraform.io/acme/${type}`,
        fingerprints: [known.fingerprint],
      })),
    },
  };
  mirror = await startMirror({ config: base });
  for (const type of ["partly", "wholly", "young", "newborn", "held", "pinned"])
    expect((await requestsFor(mirror, type).archive("1.0.0")).status).toBe(200);
  await publish("young", "1.2.0");
  await publish("pinned", "2.0.0", { signer: other });
  // Only what was held back can be approved.
  await requestsFor(mirror, "pinned").version("2.0.0");
  const { status } = await runCommand(
    mirror,
    "trust",
    "approve",
    "acme/pinned@2.0.0",
  );
  expect(status).toBe(0);
  for (const { type, version } of subjects.filter(
    ({ type }) => type !== "held",
  ))
    await eventually(
      () => requestsFor(mirror, type).archive(version),
      (answer) => answer.status === 200,
    );
  base = { ...base, freshness: lasting };
  await restart(base);
});

afterAll(async () => {
  await mirror.stop();
  await registry.stop();
  const cells = [...table].map(
    ([cell, good]) => `${good ? "refused" : "SERVED "}  ${cell}`,
  );
  const good = [...table.values()].filter(Boolean).length;
  console.info(`${cells.join("\n")}\n${good} of ${table.size}`);
});

describe("what the rules, its age or its key keep out", () => {
  it("is refused after SIGHUP, though it was served from the store before", async () => {
    // A key that no release was accepted under: `other` was approved for "pinned", so this one is a third.
    const stranger = await createSigner({ name: "Stranger" });
    await registry.publish({
      type: "held",
      version: "2.0.0",
      signer: stranger,
    });
    for (const subject of subjects) await answersFor(subject);
    reconfigure(mirror, rules);
    for (const subject of subjects) {
      await eventually(
        () => isRefusedEverywhere(subject),
        (refused) => refused,
      ).catch(() => undefined);
      check("SIGHUP", subject, await isRefusedEverywhere(subject));
    }
  });

  it("is refused on every path after a restart, though it is stored", async () => {
    await restart({ ...base, ...rules });
    for (const subject of subjects) {
      const answers = await answersFor(subject);
      const refusal = `451 ${refusals[subject.row]}`;
      check("index", subject, isListed(subject, answers.index));
      check("version", subject, outcomeOf(answers.document) === refusal);
      check("GET", subject, outcomeOf(answers.get) === refusal);
      check("HEAD", subject, answers.head.status === 451);
      check("range", subject, outcomeOf(answers.range) === refusal);
      const { versions, published } = answers;
      const [document, ...proof] = published.map(outcomeOf);
      const facade = versions !== undefined && isListed(subject, versions);
      check("façade versions", subject, facade);
      check("façade package", subject, document === refusal);
      const isProofRefused = proof.every((outcome) => outcome === refusal);
      check("façade proof", subject, isProofRefused);
    }
  });

  it("is refused while the origin is down and answers are stale", async () => {
    await restart({
      ...base,
      ...rules,
      freshness: { versions: "0" },
    });
    await registry.stop();
    try {
      for (const subject of subjects)
        check("stale", subject, await isRefusedEverywhere(subject));
      const ask = requestsFor(mirror, "held");
      expect((await ask.archive("1.0.0")).status).toBe(200);
    } finally {
      await registry.restart();
    }
  });

  it("is refused by an offline mirror", async () => {
    await restart({ ...base, ...rules, offline: true });
    const before = registry.requests.count();
    for (const subject of subjects)
      check("offline", subject, await isRefusedEverywhere(subject));
    expect(registry.requests.count()).toBe(before);
  });

  it("is all of the table", () => {
    expect([...table.values()]).toEqual(Array(33).fill(true));
  });
});
