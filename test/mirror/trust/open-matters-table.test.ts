import { globSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";
import { TrustLedger } from "../../../src/mirror/trust/ledger.ts";
import {
  listOpen,
  watchOpenMatters,
} from "../../../src/mirror/trust/open-matters.ts";
import { DiskRecords } from "../../../src/store/records/disk-records.ts";
import {
  approval,
  digest,
  fell,
  name,
  replaced,
} from "../../scenes/history-notes.ts";
import { key, provider, since, trustOf } from "../../scenes/key-questions.ts";
import { makeLayout } from "../../store/stores.ts";

const held = (reason: string, of: object = {}) => ({
  quarantined: [{ ...name, fingerprint: "S", digest, reason, since, ...of }],
});
const known = { keys: [key("S", "provider")] };

it.each([
  ["a release under an unknown key", held("unknown"), {}, "key unknown S"],
  ["not once its key is known", { ...held("unknown"), ...known }, {}, ""],
  [
    "though its key is known, when it was revoked",
    { ...held("revoked"), ...known },
    {},
    "key revoked S",
  ],
  [
    "not once its content was approved, whatever its key",
    held("not-pinned"),
    approval(),
    "",
  ],
  [
    "when other content of it was approved",
    held("unknown"),
    approval("e".repeat(64)),
    "key unknown S",
  ],
  [
    "when nobody noted its content, which an approval names",
    held("unknown", { digest: null }),
    approval(),
    "key unknown S",
  ],
  [
    "a release with other content",
    { replaced: [replaced()] },
    {},
    `content ${digest} S`,
  ],
  ["not once that was approved", { replaced: [replaced()] }, approval(), ""],
  [
    "when that of another version was",
    { replaced: [replaced()] },
    approval(digest, { ...name, version: "2.0.0" }),
    `content ${digest} S`,
  ],
  ["a release that fell", { fallen: [fell()] }, {}, "fall revoked undefined"],
])("an open matter is %s", (_what, seen, decisions, expected) => {
  const matters = listOpen(provider, trustOf(seen, decisions));
  expect(
    matters.map(({ because, reason, fingerprint }) =>
      [because, reason, String(fingerprint)].join(" "),
    ),
  ).toEqual(expected === "" ? [] : [expected]);
});

it("namespaces whose ledger cannot be believed are named beside what waits in others", async () => {
  const layout = await makeLayout();
  const { hostname } = provider;
  for (const namespace of ["acme", "broken"]) {
    const ledger = new TrustLedger(new DiskRecords(layout));
    const entry = await ledger.open({ hostname, namespace });
    await entry.noteSeen(() => trustOf({ fallen: [fell()] }).seen);
  }
  const damaged = globSync("**/seen/**/broken*", { cwd: layout.directory });
  expect(damaged).not.toEqual([]);
  for (const file of damaged) writeFileSync(join(layout.directory, file), "{}");
  // Sealed as anybody can who writes there, and of no provider.
  const records = new DiskRecords(layout);
  const { seen } = trustOf({ fallen: [fell()] });
  for (const [host, fallen] of [
    ["not_a_host", seen.fallen],
    ["forged.example", [{ ...fell(), type: "<b>" }]],
    ["forged.example:1", [{ ...fell(), version: "none" }]],
  ] as const)
    await records.create(
      ["trust", "seen", host, "acme"],
      { ...seen, fallen },
      (body) => body,
    );
  const again = new TrustLedger(records);
  const { matters, unreadable } = await watchOpenMatters(again)();
  expect(matters.map((one) => one.provider.namespace)).toEqual(["acme"]);
  expect(unreadable.map(({ message }) => message)).toEqual([
    expect.stringContaining('"<b>"'),
    expect.stringContaining('"none"'),
    expect.stringContaining('"not_a_host"'),
    expect.stringContaining("broken"),
  ]);
});

it("another fault than an unbelievable ledger is none of a ledger", async () => {
  const layout = await makeLayout();
  const { hostname, namespace } = provider;
  const begun = new TrustLedger(new DiskRecords(layout));
  const entry = await begun.open({ hostname, namespace });
  await entry.noteSeen(() => trustOf({ fallen: [fell()] }).seen);
  const failing = new (class extends DiskRecords {
    override read(): Promise<never> {
      return Promise.reject(new Error("a fault"));
    }
  })(layout);
  const watch = watchOpenMatters(new TrustLedger(failing));
  await expect(watch()).rejects.toThrow("a fault");
});
