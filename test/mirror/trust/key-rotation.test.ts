import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { format } from "prettier";
import { expect, it } from "vitest";
import { createAuthority } from "../../fakes/authority.ts";
import { startRegistry } from "../../fakes/registry.ts";
import { originsOf } from "../../origins.ts";
import { startMirror } from "../../running-mirror.ts";
import {
  createCertifiedSigner,
  type CertifiedSigner,
} from "../../scenes/certified-signers.ts";
import { Rotation } from "../../scenes/key-rotation.ts";
import { awaitLineOf } from "../../scenes/log-lines.ts";
import { runCommand } from "../../scenes/provider-requests.ts";
import { soon } from "../../scenes/trust-scene.ts";

// PROVENDER_WRITE_DOCS=1 writes the table of docs/decisions.md.

const file = join(import.meta.dirname, "../../../docs/decisions.md");
/** An origin for each profile. */
const hosts = {
  terraform: "registry.terraform.io",
  opentofu: "registry.opentofu.org",
  enforce: "registry.example.com",
} as const;
const columns = {
  "1.0.0": "1.0.0, signed with the old key",
  "1.1.0": "1.1.0, signed again with the new key",
  "2.0.0": "2.0.0, signed with the new key",
} as const;

const authority = await createAuthority();
const registry = await startRegistry({ authority });
const [old, next] = await Promise.all([
  createCertifiedSigner("old key"),
  createCertifiedSigner("new key"),
]);
const origins = Object.entries(hosts).map(
  ([verification, host]) =>
    originsOf(authority, registry, { verification }, host).origins,
);
const config = {
  origins: Object.assign({}, ...origins) as object,
  freshness: { versions: "0" },
};
const mirror = await startMirror({ config });

/** Name of a step in the table, and its code. */
type Step = readonly [string, (rotation: Rotation) => unknown];

const rotating: readonly Step[] = [
  [
    "first contact: the registry publishes the old key",
    async (rotation) => {
      rotation.publish(old);
      await rotation.sign("1.0.0", old);
      await rotation.sign("1.1.0", old);
    },
  ],
  [
    "it publishes the new key beside the old one",
    (rotation) => rotation.publish(old, next),
  ],
  [
    "the publisher signs 1.1.0 again with the new key",
    (rotation) => rotation.sign("1.1.0", next, new Date()),
  ],
  [
    "the publisher releases 2.0.0 under the new key",
    (rotation) => rotation.sign("2.0.0", next, new Date()),
  ],
];

const approval: Step = [
  "… then you approve the new key",
  (rotation) => decide("approve", next, rotation, "2.0.0", "200"),
];

/** Ways in which the old key ends, each after the steps above. */
const endings: Readonly<Record<string, Step>> = {
  withdrawn: [
    "the registry publishes the new key alone",
    (rotation) => rotation.publish(next),
  ],
  expired: [
    "the registry publishes the old key as expired",
    async (rotation) => rotation.publish(await old.expired(), next),
  ],
  "revoked-by-owner": [
    "the registry publishes the old key as revoked",
    async (rotation) => rotation.publish(await old.revoked(), next),
  ],
  "revoked-by-operator": [
    "you revoke the old key",
    (rotation) => decide("revoke", old, rotation, "1.0.0", "451 key-refused"),
  ],
};

/** Decides for the provider of each host, and waits until that counts. */
async function decide(
  decision: "approve" | "revoke",
  { fingerprint }: CertifiedSigner,
  rotation: Rotation,
  version: string,
  outcome: string,
): Promise<void> {
  for (const host of Object.values(hosts)) {
    const scope = `${host}/${rotation.namespace}/thing`;
    const { status, stderr } = await runCommand(
      mirror,
      ...["trust", decision, "--key", fingerprint, "--for", scope],
    );
    expect([status, stderr]).toEqual([0, ""]);
    await expect
      .poll(() => rotation.ask(mirror, host, version), { timeout: soon })
      .toBe(outcome);
  }
}

/** The kinds of alarms that were raised since, without those of each host. */
function listAlarms({ namespace }: Rotation, since: number): string {
  const raised = mirror.log
    .slice(since)
    .filter(({ provider }) => String(provider).includes(`/${namespace}/`))
    .flatMap(({ alarm }) =>
      typeof alarm === "string" ? [`\`${alarm}\``] : [],
    );
  return [...new Set(raised)].toSorted().join(", ") || "–";
}

/** Formats the answers to clients of each profile as one cell. */
async function describe(rotation: Rotation, version: string): Promise<string> {
  const outcomes = await Promise.all(
    Object.entries(hosts).map(async ([profile, host]) => ({
      profile,
      outcome: await rotation.look(mirror, host, version),
    })),
  );
  const groups = Map.groupBy(outcomes, ({ outcome }) => outcome);
  return groups.size === 1
    ? [...groups.keys()].join()
    : [...groups]
        .map(([outcome, own]) => {
          const names = own.map(({ profile }) => `\`${profile}\``).join(", ");
          return `${names}: ${outcome}`;
        })
        .join("; ");
}

async function takeStep(
  rotation: Rotation,
  [name, act]: Step,
): Promise<string> {
  const since = mirror.log.length;
  await act(rotation);
  const cells: string[] = [];
  for (const version of Object.keys(columns))
    cells.push(await describe(rotation, version));
  // The log has every line before that of a later request.
  await awaitLineOf(mirror, await mirror.get("/"));
  return `| ${[name, ...cells, listAlarms(rotation, since)].join(" | ")} |`;
}

/** The rows of one way to end, the common ones first. */
async function rotate(ending: string, step: Step): Promise<readonly string[]> {
  const rotation = new Rotation(registry, ending);
  const rows: string[] = [];
  for (const one of [...rotating, step, approval])
    rows.push(await takeStep(rotation, one));
  return rows;
}

/** Without what aligns the columns. */
function unpadded(text: string): string {
  return text.replaceAll(/ +/g, " ");
}

function replaceTable(text: string, table: string): string {
  return text.replace(
    /(<!-- rotation -->\n).*?(<!-- \/rotation -->)/s,
    (_, begin: string, end: string) => `${begin}\n${table}\n${end}`,
  );
}

it(
  "clients get what the table says while a publisher changes keys, and each version is listed where it is served",
  { timeout: 300_000 },
  async () => {
    const common: (readonly string[])[] = [];
    const rows: string[] = [];
    for (const [ending, step] of Object.entries(endings)) {
      const all = await rotate(ending, step);
      common.push(all.slice(0, rotating.length));
      rows.push(...all.slice(rotating.length));
    }
    const [first = [], ...others] = common;
    for (const one of others) expect(one).toEqual(first);
    const head = ["what happens", ...Object.values(columns), "alarms"];
    const table = [
      `| ${head.join(" | ")} |`,
      `|${" --- |".repeat(head.length)}`,
      ...[...first, ...rows],
    ].join("\n");
    const page = readFileSync(file, "utf8");
    const written = await format(replaceTable(page, table), {
      parser: "markdown",
    });
    if (process.env.PROVENDER_WRITE_DOCS === "1") writeFileSync(file, written);
    const known = readFileSync(file, "utf8");
    expect(unpadded(written)).toBe(unpadded(known));
  },
);
