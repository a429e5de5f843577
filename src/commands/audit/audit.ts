import { setTimeout as sleep } from "node:timers/promises";
import { formatModuleAddress } from "../../address/module-address.ts";
import { formatProviderAddress } from "../../address/provider-address.ts";
import { readEitherSpec, type SpecHosts } from "../../address/spec.ts";
import { parseDuration } from "../../address/units.ts";
import {
  isAllowed,
  parseVersionConstraint,
} from "../../address/version-constraint.ts";
import { isVersion } from "../../address/version.ts";
import { failure } from "../../errors/index.ts";
import {
  escapeUnit,
  formatAuditEntry,
  type WrittenEntry,
} from "../../telemetry/audit-entry.ts";
import { anyHostOf, type Flags, onStore } from "../command.ts";
import { print } from "../output/report.ts";

interface AuditFlags extends Flags {
  readonly spec?: string;
  readonly since?: string;
  /** How many of the newest. */
  readonly n?: string;
  readonly follow?: boolean;
}

/** Milliseconds between two looks at what is new. */
const lookEvery = 1_000;

/** Entries that are printed before those that are followed, unless a time or a count is named. */
const newestFirst = 10;

/** `provender audit`: prints the entries that are asked for as they were written; an omitted flag selects all. */
export function audit(flags: AuditFlags): Promise<number> {
  return onStore(flags, async ({ telemetry, configuration }, signal) => {
    const { spec, since, n, json = false, follow = false } = flags;
    if (follow && json)
      throw failure(
        "arguments",
        "--json",
        "a document that is followed has no end",
        'leave it out: the daemon\'s log has each entry as a line of JSON, with "msg":"audit"',
      );
    const { constraint, ...subject } = readSubject(
      spec,
      anyHostOf(configuration),
    );
    const from = since === undefined ? undefined : parseMoment(since);
    const isMeant = ({ version = "" }: WrittenEntry) =>
      !constraint || (isVersion(version) && isAllowed(constraint, version));
    const few = follow && since === undefined ? newestFirst : undefined;
    const most = n === undefined ? few : parseCount(n);
    // Until all that is there was read, where only the newest are printed.
    let newest: WrittenEntry[] | undefined =
      most === undefined ? undefined : [];
    let separator = json ? '{"version":1,"entries":[\n' : "";
    const question = { ...subject, since: from };
    for await (const page of telemetry.audit.read(question)) {
      let entries = page.filter(isMeant);
      if (newest !== undefined && most !== undefined) {
        newest = [...newest, ...entries].slice(-most);
        if (page.length > 0) continue;
        [entries, newest] = [newest, undefined];
      }
      let text = "";
      for (const entry of entries) {
        text += json
          ? `${separator}${formatAuditEntry(entry, new Date(entry.at))}`
          : `${formatEntry(entry)}\n`;
        if (json) separator = ",\n";
      }
      if (text !== "" && !(await print(text))) return 0;
      if (page.length > 0) continue;
      if (!follow) break;
      await sleep(lookEvery, undefined, { signal }).catch(() => undefined);
      if (signal.aborted) break;
    }
    if (json) await print(`${separator === ",\n" ? "" : separator}\n]}\n`);
    return 0;
  });
}

function parseCount(text: string): number {
  if (/^[1-9]\d{0,3}$/.test(text)) return Number(text);
  throw failure("malformed-address", "count", text, "1 to 9999");
}

/** One line for people. */
function formatEntry(entry: WrittenEntry): string {
  const { at, event, verdict, provider, module, version, platform } = entry;
  const { operator, token, client, times = 1 } = entry;
  const join = (label: string, ...values: readonly (string | undefined)[]) => {
    const known = values.filter((value) => value !== undefined);
    return known.length === 0 ? [] : [`${label}${known.join(" ")}`];
  };
  const line = [
    ...[at, event.padEnd(12), verdict],
    ...join("", provider ?? module, version, platform),
    ...join("key ", entry.fingerprint),
    ...join("by ", operator, token, client),
    ...join("because ", entry.rule, entry.reason, entry.detail, entry.because),
    ...(times > 1 ? [`${times} times`] : []),
  ].join("  ");
  return line.replaceAll(/[^\x20-\x7e]/g, escapeUnit);
}

const dated =
  /^\d{4}-\d\d-\d\d(?:T\d\d:\d\d(?::\d\d(?:\.\d{1,3})?)?(Z|[+-]\d\d:\d\d)?)?$/;

/** Reads a moment. Without a zone it is UTC, and a duration is that long ago. */
function parseMoment(text: string): string {
  const found = dated.exec(text);
  const zone = text.includes("T") && found?.[1] === undefined ? "Z" : "";
  try {
    const moment =
      found === null
        ? Date.now() - parseDuration(text)
        : Date.parse(text + zone);
    return new Date(Math.max(0, moment)).toISOString();
  } catch {
    throw failure(
      "malformed-address",
      "time",
      text,
      "2026-11-21, 2026-11-21T10:00:00Z, or how long ago, such as 30m, 12h or 7d",
    );
  }
}

function readSubject(spec: string | undefined, hosts: SpecHosts) {
  if (spec === undefined) return { constraint: undefined };
  const { chosen = "all", ...named } = readEitherSpec(spec, hosts);
  const text = chosen.trim();
  const constraint = text === "all" ? undefined : parseVersionConstraint(text);
  return "module" in named
    ? { module: formatModuleAddress(named.module), constraint }
    : { provider: formatProviderAddress(named.provider), constraint };
}
