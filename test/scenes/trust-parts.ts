import { existsSync, readFileSync } from "node:fs";
import { pino } from "pino";
import { parseVersion } from "../../src/address/version.ts";
import type { ReleaseOrigin } from "../../src/mirror/releases/fetch.ts";
import type { AdmissionRules } from "../../src/mirror/trust/admission-rules.ts";
import { Admission } from "../../src/mirror/trust/admission.ts";
import { TrustLedger } from "../../src/mirror/trust/ledger.ts";
import { parsePolicy } from "../../src/mirror/trust/policy.ts";
import { ReleaseHistory } from "../../src/mirror/trust/release-history.ts";
import { DiskRecords } from "../../src/store/records/disk-records.ts";
import { Alarms } from "../../src/telemetry/alarms.ts";
import { AuditLog } from "../../src/telemetry/audit-log.ts";
import { Metrics } from "../../src/telemetry/metrics.ts";
import { makeLayout } from "../mirror/cache/archives.ts";
import { TestClock } from "../mirror/cache/metadata.ts";
import { provider } from "./key-questions.ts";

/** The parts that decide on releases and remember it, on a store of their own. */
export async function makeTrust(changes: Partial<AdmissionRules> = {}) {
  const layout = await makeLayout();
  const clock = new TestClock();
  const lines: string[] = [];
  const logger = pino({ level: "info" }, { write: (line) => lines.push(line) });
  const alarms = new Alarms(logger, new Metrics(new Date(0)));
  const audit = new AuditLog({
    ...layout.audit,
    now: () => clock.now(),
    onLost: (_, cause) => {
      throw cause;
    },
  });
  const rules: AdmissionRules = {
    offline: false,
    newKeys: "accept-first",
    pins: [],
    policy: parsePolicy({ default: "allow", minimumAge: 0, rules: [] }),
    ...changes,
  };
  const ledger = new TrustLedger(new DiskRecords(layout));
  const notebook = { audit, alarms, clock };
  const admission = new Admission(ledger, notebook, rules);
  // Nothing of it is asked for a decision.
  const origin = {} as ReleaseOrigin;
  const parse = (text: string) =>
    text
      .split("\n")
      .filter(Boolean)
      .map((line) => JSON.parse(line) as Readonly<Record<string, unknown>>);
  const read = (log: keyof typeof layout.audit) =>
    existsSync(layout.audit[log])
      ? parse(readFileSync(layout.audit[log], "utf8"))
      : [];
  return {
    clock,
    ledger,
    admission,
    history: new ReleaseHistory(notebook),
    ask: (version: string, type = provider.type) =>
      admission.openVersion(
        { provider: { ...provider, type }, version: parseVersion(version) },
        { origin, rules },
      ),
    /** The lines of a log; those that nobody waits for are in it once it is closed. */
    read,
    /** What was written down since the start, and what was raised. */
    told: () => ({
      audit: read("decisions").map(
        ({ event, verdict }) => `${String(event)} ${String(verdict)}`,
      ),
      alarms: parse(lines.join("\n")).map(({ alarm }) => alarm),
    }),
    close: async () => {
      alarms.close();
      await audit.close();
    },
  };
}
