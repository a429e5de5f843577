import { existsSync, readFileSync } from "node:fs";
import { pino } from "pino";
import type { AdmissionRules } from "../../src/mirror/trust/admission-rules.ts";
import { Admission } from "../../src/mirror/trust/admission.ts";
import { TrustStore } from "../../src/mirror/trust/trust-store.ts";
import { DiskRecords } from "../../src/store/records/disk-records.ts";
import { Alarms } from "../../src/telemetry/alarms.ts";
import { AuditLog } from "../../src/telemetry/audit-log.ts";
import { parsePolicy } from "../../src/trust/policy.ts";
import { makeLayout } from "../mirror/archives/archives.ts";
import { TestClock } from "../mirror/cache/metadata.ts";

/** The rules of the moment, and what they write down, on a store of their own. */
export async function makeAdmission(changes: Partial<AdmissionRules> = {}) {
  const layout = await makeLayout();
  const clock = new TestClock();
  const logger = pino({ enabled: false });
  const alarms = new Alarms(logger, undefined);
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
  const store = new TrustStore(new DiskRecords(layout));
  const admission = new Admission(store, { audit, alarms, clock }, rules);
  const read = (log: keyof typeof layout.audit) =>
    existsSync(layout.audit[log])
      ? readFileSync(layout.audit[log], "utf8")
          .split("\n")
          .filter(Boolean)
          .map((line) => JSON.parse(line) as Readonly<Record<string, unknown>>)
      : [];
  return {
    admission,
    /** Lines of a log; those that are not waited for are in it once it is closed. */
    read,
    /** Decisions that were written down: event and verdict. */
    told: () =>
      read("decisions").map(
        ({ event, verdict }) => `${String(event)} ${String(verdict)}`,
      ),
    close: async () => {
      await audit.close();
    },
  };
}
