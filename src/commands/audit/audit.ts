import { setTimeout as sleep } from "node:timers/promises";
import { formatModuleAddress } from "../../address/module-address.ts";
import { formatProviderAddress } from "../../address/provider-address.ts";
import { readEitherSpec, type SpecHosts } from "../../address/spec.ts";
import { parseDuration } from "../../address/units.ts";
import {
  isAllowed,
  parseVersionConstraint,
  type VersionConstraint,
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
  /** `[HOSTNAME/]NAMESPACE/TYPE[@CONSTRAINT]`, or `[HOSTNAME/]NAMESPACE/NAME/SYSTEM[@CONSTRAINT]`. */
  readonly spec?: string;
  /** The first moment. */
  readonly since?: string;
  /** How many of the newest. */
  readonly n?: string;
  /** To go on with what happens, until the command is ended. */
  readonly follow?: boolean;
}

/** Characters that are printed at once. */
const gathered = 2 ** 16;

/** Milliseconds between two looks at what is new, and by how much an entry may be written after it happened. */
const lookEvery = 1_000;
const mostLate = 10_000;

/** Entries that are printed before those that are followed, unless a time or a count is named. */
const newestFirst = 10;

/** `provender audit`: prints the entries that are asked for by time, as it reads them; an omitted flag selects all. */
export function audit(flags: AuditFlags): Promise<number> {
  return onStore(flags, async ({ telemetry, configuration }, signal) => {
    const { spec, since, n, json = false } = flags;
    if (flags.follow === true && json)
      throw failure(
        "arguments",
        "--json",
        "a document that is followed has no end",
        'leave it out: the daemon\'s log has each entry as a line of JSON, with "msg":"audit"',
      );
    const hosts = anyHostOf(configuration);
    const { constraint, ...subject } = readSubject(spec, hosts);
    const read = (from: string | undefined) =>
      ofVersions(telemetry.audit.read({ ...subject, since: from }), constraint);
    const from = since === undefined ? undefined : parseMoment(since);
    const most = n === undefined ? undefined : parseCount(n);
    if (flags.follow === true) {
      const before = most ?? (since === undefined ? newestFirst : Infinity);
      return follow(read, from, before, signal);
    }
    let text = json ? '{"version":1,"entries":[' : "";
    let isFirst = true;
    for await (const entry of newestOf(read(from), most)) {
      text += json
        ? `${isFirst ? "" : ","}\n${formatAuditEntry(entry, new Date(entry.at))}`
        : `${formatEntry(entry)}\n`;
      isFirst = false;
      if (text.length < gathered) continue;
      if (!(await print(text))) return 0;
      text = "";
    }
    await print(json ? `${text}\n]}\n` : text);
    return 0;
  });
}

/** Prints the newest entries, and those that come, until the command is ended or nobody reads on. */
async function follow(
  read: (since: string | undefined) => AsyncIterable<WrittenEntry>,
  since: string | undefined,
  before: number,
  signal: AbortSignal,
): Promise<number> {
  let shown: ReadonlySet<string> | undefined;
  while (!signal.aborted) {
    const recent = new Date(Date.now() - mostLate).toISOString();
    const lines: string[] = [];
    const late = new Set<string>();
    for await (const entry of read(shown === undefined ? since : recent)) {
      const line = formatEntry(entry);
      if (entry.at >= recent) late.add(line);
      if (shown?.has(line) === true) continue;
      lines.push(line);
      if (shown === undefined && lines.length > before) lines.shift();
    }
    if (lines.length > 0 && !(await print(`${lines.join("\n")}\n`))) return 0;
    shown = late;
    await sleep(lookEvery, undefined, { signal }).catch(() => undefined);
  }
  return 0;
}

async function* ofVersions(
  entries: AsyncIterable<WrittenEntry>,
  constraint: VersionConstraint | undefined,
): AsyncGenerator<WrittenEntry> {
  for await (const entry of entries) {
    const { version = "" } = entry;
    if (!constraint || (isVersion(version) && isAllowed(constraint, version)))
      yield entry;
  }
}

async function* newestOf(
  entries: AsyncIterable<WrittenEntry>,
  most: number | undefined,
): AsyncGenerator<WrittenEntry> {
  const newest: WrittenEntry[] = [];
  for await (const entry of entries)
    if (most === undefined) yield entry;
    else if (newest.push(entry) > most) newest.shift();
  yield* newest;
}

function parseCount(text: string): number {
  if (/^[1-9]\d{0,3}$/.test(text)) return Number(text);
  throw failure("malformed-address", "count", text, "1 to 9999");
}

/** One line for people. */
function formatEntry(entry: WrittenEntry): string {
  const { at, event, verdict, provider, module, version, platform } = entry;
  const { operator, token, client, times = 1 } = entry;
  const what = [provider ?? module, version, platform];
  const who = [operator, token, client];
  const key = [entry.fingerprint && `key ${entry.fingerprint}`];
  const why = [entry.rule, entry.reason, entry.detail, entry.because];
  const often = times > 1 ? `${times} times` : "";
  const more = [labelled("by", who), labelled("because", why), often];
  const parts = [at, event.padEnd(12), verdict, join(what), join(key), ...more];
  const line = parts.filter((part) => part !== "").join("  ");
  return line.replaceAll(/[^\x20-\x7e]/g, escapeUnit);
}

function labelled(
  label: string,
  values: readonly (string | undefined)[],
): string {
  const text = join(values);
  return text === "" ? "" : `${label} ${text}`;
}

function join(values: readonly (string | undefined)[]): string {
  return values.filter((value) => value !== undefined).join(" ");
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
