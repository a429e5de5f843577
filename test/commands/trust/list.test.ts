import { ProviderChanges } from "../../../src/mirror/cache/provider-changes.ts";
import { describe, expect, it } from "vitest";
import type { Hostname } from "../../../src/address/hostname.ts";
import { TrustStore } from "../../../src/mirror/trust/trust-store.ts";
import { addCandidate } from "../../../src/trust/candidates.ts";
import { runHere } from "../../running-here.ts";
import { meet } from "../../scenes/trust-records.ts";
import { damageRecord, makeLayout, openRecords } from "../../store/stores.ts";
import { expectDocument } from "../documents.ts";
import { makeStorage } from "../storage.ts";

const hostname = "registry.terraform.io" as Hostname;
const type = "thing";
const sha256sums = "0123456789abcdef".repeat(4);

/** `last` has a candidate; records of the others are damaged. */
async function prepareStore() {
  const layout = await makeLayout();
  const records = openRecords(layout);
  const trust = new TrustStore(records, new ProviderChanges(records));
  const at = new Date("2026-01-01T00:00:00Z");
  for (const namespace of [
    ...["damaged", "last", "uncontacted", "unreleased"],
  ]) {
    const entry = await trust.open({ hostname, namespace });
    const firstKey = { fingerprint: "K", type };
    await entry.change((before) => ({ ...before, firstKey }));
    const contact = {
      ...{ id: "1", at, by: "list" as const, key: "K", newest: "1.0.0" },
      versions: new Set(["1.0.0"]),
      published: new Set(["K"]),
    };
    await meet(entry, contact, type);
    if (namespace === "unreleased") continue;
    const key = ["releases", hostname, namespace, type, "1.0.0"] as const;
    await records.swap(key, 0, {});
  }
  const candidate = {
    ...{ version: "1.1.0", sha256sums, fingerprint: "S" },
    ...{ reason: "unknown" as const, since: at.toISOString() },
  };
  const last = { hostname, namespace: "last", type };
  await trust.changeCandidates(last, (all) => addCandidate(all, candidate));
  for (const key of [
    ["namespaces", hostname, "damaged"],
    ["first_contacts", hostname, "uncontacted", type],
    ["first_contacts", hostname, "unreleased", type],
  ] as const)
    damageRecord(layout, key);
  return makeStorage({}, layout.directory);
}

const unknown = ["damaged", `uncontacted/${type}`, `unreleased/${type}`];
const files = [
  `namespaces/${hostname}/damaged`,
  `first_contacts/${hostname}/uncontacted/${type}`,
  `first_contacts/${hostname}/unreleased/${type}`,
];
const command = `provender trust approve ${hostname}/last/thing@1.1.0 0123456789abcdef`;

const store = await prepareStore();
/** Without what the log has of the same. */
const sentencesOf = (stderr: string) =>
  stderr.split("\n").filter((line) => /^[^{]/.test(line));
const run = (...args: readonly string[]) =>
  runHere(["trust", ...args, "--config", store.configFile]);

describe("namespaces whose records are damaged", () => {
  it("are named as unknown beside the others, with the cure and status 1", async () => {
    const { status, stdout, stderr } = await run("list", "--all");
    expect(status).toBe(1);
    for (const name of unknown)
      expect(stdout).toContain(`${hostname}/${name}\n  unknown\n`);
    expect(stdout).toContain(`\n  ${command}\n`);
    const sentences = sentencesOf(stderr);
    expect(sentences).toEqual(
      files.map((file) => expect.stringContaining(file) as unknown),
    );
    for (const sentence of sentences) expect(sentence).toContain("backup");
  });

  it("are problems of the document, and not among its namespaces", async () => {
    const { status, stdout, stderr } = await run("list", "--json");
    expect(status).toBe(1);
    expect(expectDocument("trust list", stdout)).toMatchObject({
      namespaces: [
        {
          namespace: `${hostname}/last`,
          firstKey: { fingerprint: "K", type },
          contacts: [{ type, key: "K", by: "list", newest: "1.0.0" }],
          candidates: [{ type, version: "1.1.0", sha256sums, command }],
          dropped: 0,
        },
        { namespace: `${hostname}/uncontacted`, contacts: [] },
        { namespace: `${hostname}/unreleased`, contacts: [] },
      ],
      problems: unknown.map((name, index) => ({
        subject: `${hostname}/${name}`,
        code: "record-unreadable",
        message: expect.stringContaining(files[index] ?? "") as unknown,
      })),
    });
    expect(sentencesOf(stderr)).toHaveLength(unknown.length);
  });

  it("stop no decision on another namespace", async () => {
    const { status } = await run("approve", "last/thing@1.1.0");
    expect(status).toBe(0);
    const { stdout } = await run("list", "--json");
    expect(expectDocument("trust list", stdout)).toMatchObject({
      namespaces: [{ candidates: [], contents: [{ sha256sums }] }, {}, {}],
    });
  });
});
