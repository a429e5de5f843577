import { rmSync } from "node:fs";
import { LedgerEntry } from "../../src/mirror/trust/ledger-entry.ts";
import { TrustLedger } from "../../src/mirror/trust/ledger.ts";
import type { Seen } from "../../src/mirror/trust/namespace-trust.ts";
import { recordPaths, type RecordKey } from "../../src/store/layout.ts";
import { DiskRecords } from "../../src/store/records/disk-records.ts";
import type { ReadBody } from "../../src/store/records/record-store.ts";
import { makeLayout } from "../store/stores.ts";
import { address as thing } from "./believed-releases.ts";
import { lesson } from "./key-questions.ts";

const { hostname, namespace } = thing.provider;
export const acme = { hostname, namespace };
export const seenKey = ["trust", "seen", hostname, namespace];
export const decisionsKey = ["trust", "decisions", hostname, namespace];
export const releaseKey = [
  ...["providers", hostname, namespace],
  ...["thing", "releases", "1.0.0"],
];
export const asItIs = (body: unknown) => body;
export const withLesson = (fingerprint: string) => (seen: Seen) => ({
  ...seen,
  lessons: [...seen.lessons, lesson(fingerprint)],
});
export const revokeK = () => ({
  keys: [
    {
      fingerprint: "K",
      decision: "revoked" as const,
      type: null,
      at: "2026-01-01T00:00:00.000Z",
    },
  ],
  releases: [],
});

/** The ledger of a store of its own, whose clock stands still. */
export async function prepareLedger() {
  const layout = await makeLayout();
  const reads: RecordKey[] = [];
  let held: Promise<void> | undefined;
  const records = new (class extends DiskRecords {
    override async read<T>(key: RecordKey, readBody: ReadBody<T>) {
      reads.push(key);
      const found = await super.read(key, readBody);
      await held;
      return found;
    }
  })(layout);
  let time = 0;
  const open = () => new LedgerEntry(records, acme, () => time);
  return {
    records,
    ledger: new TrustLedger(records, () => time),
    open,
    entry: open(),
    reads,
    /** Until the function that it returns is called. */
    holdReads: () => {
      const { promise, resolve } = Promise.withResolvers<void>();
      held = promise;
      return resolve;
    },
    pass: (milliseconds: number) => (time += milliseconds),
    lose: (key: readonly string[]) => {
      for (const path of recordPaths(layout, key))
        rmSync(path, { force: true });
    },
  };
}
