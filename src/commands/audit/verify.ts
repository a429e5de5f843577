import { basename } from "node:path";
import type { LogBreak } from "../../telemetry/audit/chain-check.ts";
import { verifyLog, type LogToRead } from "../../telemetry/audit/verify-log.ts";
import { formatDocument } from "../output/json-document.ts";

/** One log as `audit --verify --json` shows it. */
interface VerifiedLog {
  /** The name of its current file. */
  readonly log: string;
  readonly lines: number;
  /** SHA-256 of its last line. */
  readonly head: string;
  readonly breaks: readonly LogBreak[];
  /** Breaks that are not listed. */
  readonly more: number;
}

interface VerifyOptions {
  readonly json: boolean;
  /** SHA-256 of lines that have to be in one of the logs. */
  readonly head: readonly string[];
}

/** `provender audit --verify`: returns the exit status, 1 when a log is not what was written. */
export async function verifyAudit(
  logs: readonly LogToRead[],
  { json, head }: VerifyOptions,
  stdout: (text: string) => void,
): Promise<number> {
  const wanted = new Set(head.map((one) => one.toLowerCase()));
  const verified: VerifiedLog[] = [];
  const missing = new Set(wanted);
  for (const log of logs) {
    const { found, ...findings } = await verifyLog(log, wanted);
    verified.push({ log: basename(log.path), ...findings });
    for (const sha256 of found) missing.delete(sha256);
  }
  const ok =
    missing.size === 0 && verified.every(({ breaks }) => breaks.length === 0);
  stdout(
    json
      ? formatDocument({ ok, logs: verified, missing: [...missing] })
      : [...verified.map(formatLog), ...[...missing].map(tellMissing)].join(""),
  );
  return ok ? 0 : 1;
}

function tellMissing(sha256: string): string {
  return `No line has the SHA-256 ${sha256}: lines were cut off or made again, or its file left for newer ones.\n`;
}

function formatLog({ log, lines, head, breaks, more }: VerifiedLog): string {
  const places = [
    ...breaks.map(
      ({ file, line, kind, problem }) =>
        `${file}:${line}: ${kind}: this line ${problem}.`,
    ),
    ...(more > 0 ? [`${log}: and ${more} more.`] : []),
  ];
  const verdict =
    breaks.length === 0
      ? "nothing is wrong with it"
      : `${breaks.length + more} breaks: it was changed, or its disk is damaged`;
  const sum = `${log}: ${lines} lines, head ${head}: ${verdict}.`;
  return [...places, sum].map((line) => `${line}\n`).join("");
}
