import { formatModuleAddress } from "../../address/module-address.ts";
import { formatProviderAddress } from "../../address/provider-address.ts";
import { readEitherSpec, type SpecHosts } from "../../address/specs/spec.ts";
import { parseDuration } from "../../address/units.ts";
import {
  isAllowed,
  parseVersionConstraint,
  type VersionConstraint,
} from "../../address/version-constraint.ts";
import { isVersion } from "../../address/version.ts";
import { failure } from "../../errors/index.ts";
import { escapeUnit } from "../../telemetry/audit-entry.ts";
import {
  readEntries,
  type WrittenEntry,
} from "../../telemetry/audit-reader.ts";

interface AuditOptions {
  readonly json: boolean;
  readonly now: Date;
  readonly hosts: SpecHosts;
}

/** Characters that are printed at once. */
const gathered = 2 ** 16;

/**
 * `provender audit`: prints the entries that are asked for, of all logs by time, as it reads them.
 * `print` resolves when its text was taken, with false when it has no reader any longer.
 */
export async function printAudit(
  logs: readonly string[],
  question: AuditQuestion,
  { json, now, hosts }: AuditOptions,
  print: (text: string) => Promise<boolean>,
): Promise<void> {
  const isAsked = makeFilter(question, hosts, now);
  let text = json ? '{"version":1,"entries":[' : "";
  let isFirst = true;
  for await (const entry of mergeByTime(logs.map((log) => readEntries(log)))) {
    if (!isAsked(entry.fields)) continue;
    text += json
      ? `${isFirst ? "" : ","}\n${entry.json}`
      : `${formatEntry(entry.fields)}\n`;
    isFirst = false;
    if (text.length < gathered) continue;
    if (!(await print(text))) return;
    text = "";
  }
  await print(json ? `${text}\n]}\n` : text);
}

async function* mergeByTime(
  logs: readonly AsyncGenerator<WrittenEntry, undefined>[],
): AsyncGenerator<WrittenEntry> {
  const next = await Promise.all(
    logs.map(async (log) => (await log.next()).value),
  );
  try {
    for (;;) {
      let first = -1;
      for (const [index, entry] of next.entries())
        if (
          entry !== undefined &&
          (first < 0 || timeOf(entry) < timeOf(next[first]))
        )
          first = index;
      const entry = next[first];
      if (entry === undefined) return;
      yield entry;
      next[first] = (await logs[first]?.next())?.value;
    }
  } finally {
    await Promise.all(logs.map((log) => log.return(undefined)));
  }
}

function timeOf(entry: WrittenEntry | undefined): string {
  return String(entry?.fields.at);
}

/** One line for people. */
function formatEntry(fields: WrittenEntry["fields"]): string {
  const { at, event, verdict, provider, module, version, platform } = fields;
  const { operator, token, client } = fields;
  const what = [provider ?? module, version, platform];
  const who = [operator, token, client];
  const why = [fields.rule, fields.reason, fields.detail, fields.because];
  const more = [labelled("by", who), labelled("because", why)];
  const parts = [at, String(event).padEnd(12), verdict, join(what), ...more];
  const line = parts
    .filter((part) => part !== undefined && part !== "")
    .join("  ");
  return line.replaceAll(/[^\x20-\x7e]/g, escapeUnit);
}

function labelled(
  label: string,
  values: readonly (string | number | undefined)[],
): string {
  const text = join(values);
  return text === "" ? "" : `${label} ${text}`;
}

function join(values: readonly (string | number | undefined)[]): string {
  return values.filter((value) => value !== undefined).join(" ");
}

/** Filter of the audit log, as typed; an omitted field selects all. */
interface AuditQuestion {
  /** `[HOSTNAME/]NAMESPACE/TYPE[@CONSTRAINT]`, or `[HOSTNAME/]NAMESPACE/NAME/SYSTEM[@CONSTRAINT]`. */
  readonly spec?: string | undefined;
  /** The first moment. */
  readonly since?: string | undefined;
  /** The first moment after. */
  readonly until?: string | undefined;
  /** Name of a token, address of a client or login name of an operator. */
  readonly asker?: string | undefined;
  readonly verdict?: string | undefined;
  readonly event?: string | undefined;
}

type Fields = WrittenEntry["fields"];
type Test = (fields: Fields) => boolean;

/** Returns what is true for the entries that are asked for. */
function makeFilter(
  question: AuditQuestion,
  hosts: SpecHosts,
  now: Date,
): Test {
  const { spec, since, until, asker, verdict, event } = question;
  const tests: Test[] = [];
  if (event !== undefined) tests.push((fields) => fields.event === event);
  if (spec !== undefined) tests.push(makeSpecTest(spec, hosts));
  if (since !== undefined) tests.push(isSince(parseMoment(since, now)));
  if (until !== undefined) {
    const isAfter = isSince(parseMoment(until, now));
    tests.push((fields) => !isAfter(fields));
  }
  if (asker !== undefined) tests.push((fields) => isFrom(fields, asker));
  if (verdict !== undefined) tests.push((fields) => fields.verdict === verdict);
  return (fields) => tests.every((test) => test(fields));
}

function isSince(moment: number): Test {
  return ({ at }) => Date.parse(String(at)) >= moment;
}

/** An address of IPv4 is the same in its form for IPv6. */
function isFrom({ token, client, operator }: Fields, asker: string): boolean {
  return (
    [token, client, operator].includes(asker) || client === `::ffff:${asker}`
  );
}

const dated =
  /^\d{4}-\d\d-\d\d(?:T\d\d:\d\d(?::\d\d(?:\.\d{1,3})?)?(Z|[+-]\d\d:\d\d)?)?$/;

/**
 * Parses a moment to milliseconds. Without a zone it is UTC, and a duration is
 * that long ago.
 */
function parseMoment(text: string, now: Date): number {
  const found = dated.exec(text);
  const zone = text.includes("T") && found?.[1] === undefined ? "Z" : "";
  const moment =
    found === null ? now.getTime() - durationOf(text) : Date.parse(text + zone);
  if (!Number.isNaN(moment)) return moment;
  throw failure(
    "malformed-address",
    "time",
    text,
    "2026-11-21, 2026-11-21T10:00:00Z, or how long ago, such as 30m, 12h or 7d",
  );
}

function durationOf(text: string): number {
  try {
    return parseDuration(text);
  } catch {
    return NaN;
  }
}

function makeSpecTest(spec: string, hosts: SpecHosts): Test {
  const named = readEitherSpec(spec, hosts);
  const { chosen } = named;
  const constraint = chosen === undefined ? undefined : readConstraint(chosen);
  const isModule = "module" in named;
  const address = isModule
    ? formatModuleAddress(named.module)
    : formatProviderAddress(named.provider);
  const field = isModule ? "module" : "provider";
  return (fields) =>
    String(fields[field]).toLowerCase() === address &&
    (constraint === undefined || isOf(constraint, String(fields.version)));
}

function readConstraint(chosen: string): VersionConstraint | undefined {
  const text = chosen.trim();
  return text === "all" ? undefined : parseVersionConstraint(text);
}

function isOf(constraint: VersionConstraint, version: string): boolean {
  return isVersion(version) && isAllowed(constraint, version);
}
