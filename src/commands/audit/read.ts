import type { SpecHosts } from "../../address/specs/spec.ts";
import { escapeUnit } from "../../telemetry/audit-entry.ts";
import {
  readEntries,
  type LogToRead,
  type WrittenEntry,
} from "../../telemetry/audit/read-log.ts";
import { makeFilter, type AuditQuestion } from "./filter.ts";

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
  logs: readonly LogToRead[],
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
  const { operator, token, client, repeated } = fields;
  const what = [provider ?? module, version, platform];
  const who = [operator, token, client];
  const why = [fields.rule, fields.reason, fields.detail, fields.because];
  const more = [
    labelled("by", who),
    labelled("because", why),
    repeated !== undefined && `${repeated} times more`,
  ];
  const parts = [at, String(event).padEnd(12), verdict, join(what), ...more];
  const line = parts
    .filter((part) => part !== undefined && part !== false && part !== "")
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
