import { ProviderChanges } from "../../../src/mirror/cache/provider-changes.ts";
import { describe, expect, it } from "vitest";
import type { Hostname } from "../../../src/address/hostname.ts";
import { TrustStore } from "../../../src/mirror/trust/trust-store.ts";
import { addCandidate } from "../../../src/trust/candidates.ts";
import { runHere } from "../../running-here.ts";
import { requestsFor, runCommand } from "../../scenes/provider-requests.ts";
import { TrustScene } from "../../scenes/trust-scene.ts";
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
    const nothing = () => Promise.resolve();
    await entry.createContact(type, contact, (trust) => trust, nothing);
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
    for (const form of ["--all", "--json"]) {
      const { status, stdout, stderr } = await run("list", form);
      expect(status).toBe(1);
      const sentences = sentencesOf(stderr);
      expect(sentences).toEqual(
        files.map((file) => expect.stringContaining(file) as unknown),
      );
      for (const sentence of sentences) expect(sentence).toContain("backup");
      if (form === "--all")
        for (const text of [
          ...unknown.map((name) => `${hostname}/${name}\n  unknown\n`),
          `\n  ${command}\n`,
        ])
          expect(stdout).toContain(text);
      else
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
    }
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

const key = "A".repeat(40);
const scene = await TrustScene.start();

describe("provender trust list", () => {
  it("has what needs a decision with its commands, and with --all keys and first contacts", async () => {
    const { known, stranger } = await scene.refuseNext("tabled");
    const [candidate] = await scene.candidatesOf("tabled");
    const { sha256sums = "" } = candidate ?? {};
    const day = String.raw`\d{4}-\d\d-\d\d`;
    const lines = (await scene.trust("list")).split("\n");
    const at = lines.findIndex((line) =>
      line.startsWith(`${hostname}/tabled/`),
    );
    expect(lines[0]).toMatch(/^NEEDS A DECISION: /);
    expect(lines[at]).toMatch(
      new RegExp(
        `^${hostname}/tabled/thing 1\\.1\\.0: key ${stranger.fingerprint}, not known, SHA256SUMS ${sha256sums}, since ${day}$`,
      ),
    );
    expect(lines.slice(at + 1, at + 3)).toEqual([
      `  provender trust approve ${hostname}/tabled/thing@1.1.0 ${sha256sums.slice(0, 16)}`,
      `  provender trust approve --key ${stranger.fingerprint} --for ${hostname}/tabled/thing  # all that this key signs`,
    ]);
    expect(lines.join()).not.toContain(known.fingerprint);
    expect(await scene.trust("list", "--all")).toMatch(
      new RegExp(
        `${hostname}/tabled\\n` +
          ` {2}KEY +STATE +FOR .*\\n` +
          ` {2}${known.fingerprint} +first key +namespace .* thing\\n` +
          ` {2}FIRST CONTACT +KEY .*\\n` +
          ` {2}thing +${known.fingerprint} +${day} +list +1\\.0\\.0\\n`,
      ),
    );
  });

  it("is empty on a store of its own, where a key can be revoked ahead", async () => {
    const empty = makeStorage({});
    const nothing = await runCommand(empty, "trust", "list");
    expect([nothing.status, nothing.stdout]).toEqual([
      0,
      "Nothing needs a decision.\n",
    ]);
    const of = ["--key", key, "--for", "acme"];
    const revoke = await runCommand(empty, "trust", "revoke", ...of);
    expect(revoke.status).toBe(0);
    expect(revoke.stdout).toContain("is revoked for");
    expect(revoke.stdout).toContain("in advance");
    const list = await runCommand(empty, "trust", "list", "--all");
    expect(list.stdout).toMatch(
      new RegExp(`\n${hostname}/acme\\n.*\\n {2}${key} +revoked +namespace `),
    );
  });

  it("shows the same candidates and commands everywhere", async () => {
    await scene.refuseNext("everywhere");
    const [candidate] = await scene.candidatesOf("everywhere");
    const written = candidate?.command ?? "no command";
    const name = `${hostname}/everywhere/thing`;
    const explain = await runCommand(scene.mirror, "explain", `${name}@1.1.0`);
    expect(explain.stdout).toContain(written);
    for (const path of ["/decisions", `/why/${name}/1.1.0`])
      expect([path, (await scene.mirror.get(path)).body.toString()]).toEqual([
        path,
        expect.stringContaining(written),
      ]);
    const ask = requestsFor(scene.mirror, "thing", "everywhere");
    const refused = (await ask.version("1.1.0")).body.toString();
    expect(refused.replaceAll('\\"', '"')).toContain(written);
  });
});
