import { basename } from "node:path";
import type { LogBreak, LogPlace } from "../../telemetry/audit/findings.ts";
import { verifyLog, type LogToRead } from "../../telemetry/audit/verify-log.ts";

/** One log as `audit --verify --json` shows it. */
interface VerifiedLog {
  /** The name of its current file. */
  readonly log: string;
  /** Chained lines. */
  readonly lines: number;
  /** Lines of earlier versions before them. */
  readonly unchained: number;
  readonly breaks: readonly LogBreak[];
  /** Breaks that are not listed. */
  readonly more: number;
  /** Lines that a killed process left unfinished. */
  readonly torn: readonly LogPlace[];
}

/** `provender audit --verify`: returns the exit status, 1 when a log is not what was written. */
export async function verifyAudit(
  logs: readonly LogToRead[],
  { json }: { readonly json: boolean },
  stdout: (text: string) => void,
): Promise<number> {
  const verified: VerifiedLog[] = [];
  for (const log of logs) verified.push(await verifyOne(log));
  const isWhole = verified.every(({ breaks }) => breaks.length === 0);
  const document = { version: 1, ok: isWhole, logs: verified };
  stdout(
    json
      ? `${JSON.stringify(document, null, 2)}\n`
      : verified.map(formatLog).join(""),
  );
  return isWhole ? 0 : 1;
}

async function verifyOne(log: LogToRead): Promise<VerifiedLog> {
  const { lines, unchained, breaks, more, torn } = await verifyLog(log);
  return { log: basename(log.path), lines, unchained, breaks, more, torn };
}

function formatLog(verified: VerifiedLog): string {
  const { log, lines, unchained, breaks, more, torn } = verified;
  const places = [
    ...breaks.map(
      ({ file, line, kind, problem }) =>
        `${file}:${line}: ${kind}: this line ${problem}.`,
    ),
    ...(more > 0 ? [`${log}: and ${more} more.`] : []),
    ...torn.map(
      ({ file, line }) =>
        `${file}:${line}: healed: a process was killed while it wrote this line.`,
    ),
  ];
  const before = unchained > 0 ? ` after ${unchained} of earlier versions` : "";
  const verdict =
    breaks.length === 0
      ? "nothing is wrong with it"
      : `${breaks.length + more} breaks: somebody changed it, or its disk did`;
  return [...places, `${log}: ${lines} chained lines${before}: ${verdict}.`]
    .map((line) => `${line}\n`)
    .join("");
}
