import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { onTestFinished } from "vitest";
import type { ReleaseAddress } from "../../src/mirror/releases/release.ts";
import type { AdmissionRules } from "../../src/mirror/trust/admission-rules.ts";
import { LedgerEntry } from "../../src/mirror/trust/ledger-entry.ts";
import type {
  Decisions,
  NamespaceTrust,
  Seen,
} from "../../src/mirror/trust/namespace-trust.ts";
import type { Notebook } from "../../src/mirror/trust/notebook.ts";
import { decideByRules, parsePolicy } from "../../src/mirror/trust/policy.ts";
import type { ReleaseRequest, Served } from "../../src/mirror/trust/request.ts";
import type { StoreLayout } from "../../src/store/layout.ts";
import { DiskRecords } from "../../src/store/records/disk-records.ts";
import { Alarms } from "../../src/telemetry/alarms.ts";
import { AuditLog, type AuditEntry } from "../../src/telemetry/audit-log.ts";
import { makeLogger } from "../../src/telemetry/logger.ts";
import { Metrics } from "../../src/telemetry/metrics.ts";
import { makeLayout } from "../store/stores.ts";
import { address as thing } from "./believed-releases.ts";
import { trustOf } from "./key-questions.ts";

export const noted = new Date("2026-02-02T00:00:00Z");

export const openRules: AdmissionRules = {
  offline: false,
  policy: parsePolicy({ default: "allow", minimumAge: 0, rules: [] }),
  newKeys: "accept-first",
  pins: [],
};

/** Such as `K provider thing`. */
export function namesOf({ keys }: Seen): readonly string[] {
  return keys.map(
    ({ fingerprint, scope, type }) => `${fingerprint} ${scope} ${type}`,
  );
}

/** The ledger of one namespace on a disk, the audit log and the alarms, all real. */
export class TrustNotes {
  readonly layout: StoreLayout;
  readonly entry: LedgerEntry;
  readonly notebook: Notebook;
  readonly #metrics = new Metrics(new Date());

  private constructor(layout: StoreLayout) {
    const silent = makeLogger({
      level: "silent" as "fatal",
      format: "json",
    });
    this.layout = layout;
    this.entry = this.openEntry();
    this.notebook = {
      audit: new AuditLog({
        requests: this.#pathOf("requests"),
        decisions: this.#pathOf("decisions"),
        now: () => noted,
        onLost: (_, cause) => {
          throw cause;
        },
      }),
      alarms: new Alarms(silent, this.#metrics),
      clock: { now: () => noted, monotonic: () => 0 },
    };
  }

  /** What is known of the namespace is written as `trustOf` says. */
  static async start(
    seen: Readonly<Record<string, unknown>> = {},
    decisions: Readonly<Record<string, unknown>> = {},
  ): Promise<TrustNotes> {
    const notes = new TrustNotes(await makeLayout());
    onTestFinished(() => notes.notebook.audit.close());
    const trust = trustOf(seen, decisions);
    const writer = notes.openEntry();
    await writer.noteSeen(() => trust.seen);
    if (Object.keys(decisions).length > 0)
      await writer.decide(() => trust.decisions);
    await notes.entry.renew();
    return notes;
  }

  /** As another process has it. */
  openEntry(now?: () => number): LedgerEntry {
    const { hostname, namespace } = thing.provider;
    const records = new DiskRecords(this.layout);
    return new LedgerEntry(records, { hostname, namespace }, now);
  }

  request(
    address: ReleaseAddress = thing,
    rules: AdmissionRules = openRules,
    entry = this.entry,
  ): ReleaseRequest {
    const { provider, version } = address;
    const decision = decideByRules(rules.policy, provider, version);
    // Nothing of this room asks the origin.
    const served = { rules } as Served;
    return { ...served, provider, entry, address, decision };
  }

  /** What is on the disk now. */
  async trust(): Promise<NamespaceTrust> {
    return this.openEntry().renew();
  }

  async seen(): Promise<Seen> {
    return (await this.trust()).seen;
  }

  async decisions(): Promise<Decisions> {
    return (await this.trust()).decisions;
  }

  /** Another one after each time that something was written. */
  async stamp(): Promise<string | undefined> {
    const { hostname, namespace } = thing.provider;
    const records = new DiskRecords(this.layout);
    return records.stamp(["trust", "seen", hostname, namespace]);
  }

  audit(): readonly AuditEntry[] {
    const path = this.#pathOf("decisions");
    if (!existsSync(path)) return [];
    const lines = readFileSync(path, "utf8").trimEnd().split("\n");
    return lines.map((line) => JSON.parse(line) as AuditEntry);
  }

  /** How many of each kind were raised, such as `key-new 1`. */
  async alarms(): Promise<readonly string[]> {
    const { text } = await this.#metrics.render();
    const counts = text.matchAll(/alarms_total\{kind="([^"]+)"\} ([1-9]\d*)/g);
    return [...counts].map(([, kind, count]) => `${kind} ${count}`);
  }

  #pathOf(kind: string): string {
    return join(this.layout.directory, `${kind}.jsonl`);
  }
}
