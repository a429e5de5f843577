import { rmSync, writeFileSync } from "node:fs";
import { beforeAll, describe, expect, it } from "vitest";
import type { Hostname } from "../../../src/address/hostname.ts";
import { TrustLedger } from "../../../src/mirror/trust/ledger.ts";
import { recordPaths } from "../../../src/store/layout.ts";
import { DiskRecords } from "../../../src/store/records/disk-records.ts";
import { runCommand } from "../../running-command.ts";
import { lesson } from "../../scenes/key-questions.ts";
import { makeLayout } from "../../store/stores.ts";
import { expectDocument } from "../documents.ts";
import { makeStorage } from "../storage.ts";

const hostname = "registry.terraform.io" as Hostname;

/** `last` holds a release back; of the others nothing can be told. */
async function prepareStore() {
  const layout = await makeLayout();
  const records = new DiskRecords(layout);
  const ledger = new TrustLedger(records);
  for (const namespace of ["damaged", "gone", "undecided", "last"]) {
    const entry = await ledger.open({ hostname, namespace });
    await entry.noteSeen((seen) => ({ ...seen, lessons: [lesson("K")] }));
    await ledger.decide({ hostname, namespace }, (decisions) => decisions);
    const folder = ["providers", hostname, namespace, "thing", "releases"];
    await records.create([...folder, "1.0.0"], { hasLedger: true }, Object);
  }
  await (
    await ledger.open({ hostname, namespace: "last" })
  ).noteSeen((seen) => ({ ...seen, quarantined: [held] }));
  const pathsOf = (kind: string, namespace: string) =>
    recordPaths(layout, ["trust", kind, hostname, namespace]);
  for (const path of pathsOf("seen", "damaged")) writeFileSync(path, "{}");
  for (const path of [
    ...pathsOf("seen", "gone"),
    ...pathsOf("decisions", "gone"),
    ...pathsOf("decisions", "undecided"),
  ])
    rmSync(path);
  return makeStorage({}, layout.directory);
}

const held = {
  ...{ type: "thing", version: "1.1.0", fingerprint: "S", digest: null },
  ...{ reason: "unknown" as const, since: "2026-01-01T00:00:00.000Z" },
};
const unknown = ["damaged", "gone", "undecided"];
const files = [
  "records/v1/trust/seen/registry.terraform.io/damaged.json",
  "records/v1/trust/seen/registry.terraform.io/gone.json",
  "records/v1/trust/decisions/registry.terraform.io/undecided.json",
];

let store: Awaited<ReturnType<typeof prepareStore>>;
beforeAll(async () => {
  store = await prepareStore();
});
/** Without what the log has of the same. */
const sentencesOf = (stderr: string) =>
  stderr.split("\n").filter((line) => /^[^{]/.test(line));
const run = (...args: readonly string[]) =>
  runCommand(["trust", ...args, "--config", store.configFile]);

describe("namespaces of which records are damaged or gone", () => {
  it("are named as unknown beside the others, with status 1", async () => {
    const { status, stdout, stderr } = await run("list");
    expect(status).toBe(1);
    for (const namespace of unknown)
      expect(stdout).toContain(`${hostname}/${namespace}\n  unknown\n`);
    expect(stdout).toMatch(/\/last\n {2}HELD BACK .*\n {2}thing 1\.1\.0 /);
    expect(sentencesOf(stderr)).toEqual(
      files.map((file) => expect.stringContaining(file) as unknown),
    );
  });

  it("are problems of the document, and not among its namespaces", async () => {
    const { status, stdout, stderr } = await run("list", "--json");
    expect(status).toBe(1);
    expect(expectDocument("trust list", stdout)).toMatchObject({
      namespaces: [{ namespace: `${hostname}/last` }],
      problems: unknown.map((namespace, n) => ({
        namespace: `${hostname}/${namespace}`,
        code: "record-unreadable",
        message: expect.stringContaining(files[n] ?? "") as unknown,
      })),
    });
    expect(sentencesOf(stderr)).toHaveLength(unknown.length);
  });

  it("are in nobody's way who approves what is held back elsewhere, or misses it", async () => {
    const { status, stderr } = await run("approve", "last/thing@1.1.1");
    expect(status).toBe(1);
    expect(stderr).toContain("what is: registry.terraform.io/last/thing@1.1.0");
  });
});
