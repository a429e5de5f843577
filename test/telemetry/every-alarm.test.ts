import {
  globSync,
  mkdirSync,
  renameSync,
  rmdirSync,
  truncateSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { alarmKinds, type AlarmKind } from "../../src/telemetry/metrics.ts";
import { createAuthority } from "../fakes/authority.ts";
import { alteredByte, json } from "../fakes/faults.ts";
import { FakeModuleRegistry } from "../fakes/module-registry.ts";
import {
  startRegistry,
  type PublishOptions,
  type Registry,
} from "../fakes/registry.ts";
import { originsOf } from "../origins.ts";
import { has } from "../packaging/release.ts";
import { startMirror, type RunningMirror } from "../running-mirror.ts";
import { testRules } from "../scenes/alert-rules.ts";
import { awaitHit, awaitLine } from "../scenes/log-lines.ts";
import { replaceModule } from "../scenes/module-scene.ts";
import {
  countAlarms,
  eventually,
  readAudit,
  requestsFor,
  runCommand,
  type AuditLine,
} from "../scenes/provider-requests.ts";
import { signer } from "../scenes/trust-scene.ts";

/** Code that throws on a daemon's event loop, as an unforeseen flaw does. */
const flaw = `
  const { stringify } = JSON;
  JSON.stringify = (value, ...more) => {
    if (value?.status === "ready") throw new Error("a flaw");
    return stringify(value, ...more);
  };`;

const moduleHost = "modules.example.com";

let registry: Registry;
let modules: FakeModuleRegistry;
let mirror: RunningMirror;

beforeAll(async () => {
  const authority = await createAuthority();
  registry = await startRegistry({ authority });
  modules = await FakeModuleRegistry.start({ authority });
  const { origins } = originsOf(authority, registry);
  const [{ ca }] = Object.values(origins) as [{ ca: string }];
  mirror = await startMirror({
    config: {
      origins: { ...origins, [moduleHost]: { url: modules.url, ca } },
      freshness: { versions: "1ms" },
    },
    nodeOptions: [
      "--import",
      `data:text/javascript,${encodeURIComponent(flaw)}`,
    ],
  });
});

afterAll(async () => {
  await mirror.stop();
  await registry.stop();
  await modules.stop();
});

function publish(kind: AlarmKind, options: Partial<PublishOptions> = {}) {
  const release = { namespace: kind, type: "thing", version: "1.0.0" };
  return registry.publish({ ...release, seed: kind, ...options });
}

const ask = (kind: AlarmKind, type = "thing") =>
  requestsFor(mirror, type, kind);

async function statusOf(
  kind: AlarmKind,
  document: "version" | "archive",
  version = "1.0.0",
): Promise<number> {
  return (await ask(kind)[document](version)).status;
}

/** Publishes a release and asks for it; what comes next is news. */
async function contact(kind: AlarmKind): Promise<void> {
  await publish(kind);
  expect(await statusOf(kind, "version")).toBe(200);
}

interface Case {
  /** Makes what the alarm is about happen, and asks as clients do. */
  readonly happens: () => Promise<unknown>;
  /** Audit line that explains the alarm later. */
  readonly written?: AuditLine;
}

type KindWithoutBucket = Exclude<
  AlarmKind,
  "bucket-failing" | "decision-undone" | "package-hash-conflict"
>;
/** Undone decisions are told at the start alone: test/mirror/trust/restored-records.test.ts. */
const kinds = alarmKinds.filter(
  (kind) =>
    kind !== "bucket-failing" &&
    kind !== "decision-undone" &&
    kind !== "package-hash-conflict",
);

/** One for each kind of a mirror without a bucket: a kind without a case is an error of types. */
const cases: Readonly<Record<KindWithoutBucket, Case>> = {
  "release-replaced": {
    happens: async () => {
      await contact("release-replaced");
      await publish("release-replaced", { seed: "created again" });
      expect(await statusOf("release-replaced", "version")).toBe(200);
    },
    written: { event: "replaced", verdict: "refused" },
  },
  "key-new": {
    happens: async () => {
      await contact("key-new");
      const next = await signer("next");
      await publish("key-new", { type: "other", signer: next });
      const answer = await ask("key-new", "other").version("1.0.0");
      expect(answer.status).toBe(200);
    },
    written: { event: "new-key", verdict: "accepted" },
  },
  "key-refused": {
    happens: async () => {
      await contact("key-refused");
      const stranger = await signer("stranger");
      await publish("key-refused", { version: "1.0.1", signer: stranger });
      expect(await statusOf("key-refused", "version", "1.0.1")).toBe(451);
    },
    written: { event: "quarantined", verdict: "refused" },
  },
  "signature-refused": {
    happens: async () => {
      await publish("signature-refused");
      registry.script("signature", alteredByte(100));
      expect(await statusOf("signature-refused", "version")).toBe(451);
    },
    written: { event: "refused", reason: "signature-refused" },
  },
  "versions-vanished": {
    happens: async () => {
      await contact("versions-vanished");
      registry.script(
        "versions",
        json((document) => ({ ...document, versions: [] })),
      );
      await ask("versions-vanished").index();
    },
  },
  "archive-tampered": {
    happens: async () => {
      await contact("archive-tampered");
      registry.script("archive", alteredByte(100));
      const answer = await ask("archive-tampered").archive("1.0.0");
      expect(answer.status === 451 || !answer.complete).toBe(true);
    },
  },
  "archive-damaged": {
    happens: async () => {
      const release = await publish("archive-damaged");
      const { filename, sha256 } = release.archive("linux_amd64");
      const folder = "/providers/registry.terraform.io/archive-damaged/thing";
      await awaitHit(mirror, `${folder}/${filename}`);
      const blobs = join(mirror.directory, "blobs", "v1", "sha256");
      truncateSync(join(blobs, sha256.slice(0, 2), sha256), 10);
      const answer = await ask("archive-damaged").archive("1.0.0");
      expect(answer.status).toBe(200);
    },
  },
  "record-unreadable": {
    happens: async () => {
      await contact("record-unreadable");
      const { directory } = mirror;
      const path = "v1/**/record-unreadable/thing/releases/1.0.0.json";
      const copies = globSync(join(directory, "{records,record-copies}", path));
      expect(copies).toHaveLength(2);
      for (const copy of copies) writeFileSync(copy, "");
      expect(await statusOf("record-unreadable", "version")).toBe(503);
    },
  },
  "trust-reset": {
    happens: async () => {
      await contact("trust-reset");
      const name = "trust-reset/thing";
      const { status } = await runCommand(mirror, "trust", "reset", name);
      expect(status).toBe(0);
      await eventually(
        async () => {
          await statusOf("trust-reset", "version");
          return countAlarms(mirror, "trust-reset");
        },
        (count) => count > 0,
      );
    },
    written: { event: "reset", verdict: "refused" },
  },
  "audit-lost": {
    happens: async () => {
      await publish("audit-lost");
      const path = join(mirror.directory, "audit", "audit.jsonl");
      renameSync(path, `${path}.aside`);
      mkdirSync(path);
      expect(await statusOf("audit-lost", "archive")).toBe(200);
      await awaitAlarm("audit-lost");
      rmdirSync(path);
      renameSync(`${path}.aside`, path);
    },
  },
  "module-replaced": {
    happens: () => replaceModule(mirror, modules, moduleHost),
    written: { event: "replaced", verdict: "refused", version: "1.0.0" },
  },
  "unexpected-error": {
    happens: async () => {
      expect((await mirror.get("/readyz")).status).toBe(500);
    },
  },
};

const awaitAlarm = (kind: AlarmKind) =>
  awaitLine(mirror, ({ alarm }) => alarm === kind);

async function countAll(): Promise<Readonly<Record<string, number>>> {
  const counts = alarmKinds.map(
    async (kind) => [kind, await countAlarms(mirror, kind)] as const,
  );
  return Object.fromEntries(await Promise.all(counts));
}

async function scrape(): Promise<readonly (readonly [string, string])[]> {
  const text = (await mirror.get("/metrics")).body.toString();
  const series = /^(provender_(?:alarms|audit)_\S+) (\d+)$/gm;
  return [...text.matchAll(series)].map(([, name = "", value = ""]) => [
    name,
    value,
  ]);
}

const canTestRules = await has("promtool", "that a rule sees each alarm");
let atFirst: Readonly<Record<string, string>> = {};

describe("an alarm through a running daemon", () => {
  beforeAll(async () => {
    atFirst = Object.fromEntries(await scrape());
  });

  it.each(kinds)(
    "is counted from 0 to 1, logged, and written to the audit log: %s",
    async (kind) => {
      const { happens, written } = cases[kind];
      const before = await countAll();
      const linesBefore = readAudit(mirror).length;
      await happens();
      registry.heal();
      expect(await awaitAlarm(kind)).toMatchObject({ level: "error" });
      // No other kind is raised by the same cause.
      expect(await countAll()).toEqual({ ...before, [kind]: 1 });
      expect(before[kind]).toBe(0);
      if (written !== undefined)
        expect(readAudit(mirror).slice(linesBefore)).toContainEqual(
          expect.objectContaining(written),
        );
    },
  );

  it.skipIf(!canTestRules)("is seen by one of the alert rules", async () => {
    const scraped = (await scrape()).map(([name, value]) => [
      name,
      `${atFirst[name]}+0x3 ${value}+0x2`,
    ]);
    const firing = kinds.map((kind) => [`kind="${kind}"`, 1]);
    await testRules([
      {
        series: Object.fromEntries(scraped) as Record<string, string>,
        at: "20m",
        firing: Object.fromEntries(firing) as Record<string, number>,
      },
    ]);
  });
});
