import { basename } from "node:path";
import type { LogBreak, LogPlace } from "../../telemetry/audit/findings.ts";
import { formatDocument } from "../output/json-document.ts";
import { verifyLog, type LogToRead } from "../../telemetry/audit/verify-log.ts";

/** One log as `audit --verify --json` shows it. */
interface VerifiedLog {
  /** The name of its current file. */
  readonly log: string;
  /** Of another replica: the name under which it signs. */
  readonly replica?: string | undefined;
  /** Chained lines. */
  readonly lines: number;
  /** Lines of earlier versions before them. */
  readonly unchained: number;
  /** Lines that sign for those before them. */
  readonly checkpoints: number;
  /** Lines that no checkpoint signs for yet. */
  readonly unsigned: number;
  readonly breaks: readonly LogBreak[];
  /** Breaks that are not listed. */
  readonly more: number;
  /** Lines that a killed process left unfinished. */
  readonly torn: readonly LogPlace[];
  /** What tools that verify signed notes want to know of the store's key. */
  readonly key: string;
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
  stdout(
    json
      ? formatDocument({ ok: isWhole, logs: verified })
      : verified.map(formatLog).join(""),
  );
  return isWhole ? 0 : 1;
}

async function verifyOne(log: LogToRead): Promise<VerifiedLog> {
  if (log.unproven !== undefined) return tellUnproven(log, log.unproven);
  const { lines, unchained, checkpoints, unsigned, breaks, more, torn } =
    await verifyLog(log);
  const counts = { lines, unchained, checkpoints, unsigned };
  const key = await log.checkpoints.describeKey();
  const { path, replica } = log;
  return { log: basename(path), replica, ...counts, breaks, more, torn, key };
}

/** Nothing is counted: anybody may have written it. */
function tellUnproven(
  { path, replica }: LogToRead,
  problem: string,
): VerifiedLog {
  const log = basename(path);
  const counts = { lines: 0, unchained: 0, checkpoints: 0, unsigned: 0 };
  const found = { file: log, line: 1, kind: "checkpoint" as const, problem };
  return {
    log,
    replica,
    ...counts,
    breaks: [found],
    more: 0,
    torn: [],
    key: "",
  };
}

function formatLog(verified: VerifiedLog): string {
  const { lines, unchained, breaks, more, torn, replica } = verified;
  const { checkpoints, unsigned } = verified;
  const folder = replica === undefined ? "" : `${replica}/`;
  const log = `${folder}${verified.log}`;
  const places = [
    ...breaks.map(
      ({ file, line, kind, problem }) =>
        `${folder}${file}:${line}: ${kind}: this line ${problem}.`,
    ),
    ...(more > 0 ? [`${log}: and ${more} more.`] : []),
    ...torn.map(
      ({ file, line }) =>
        `${folder}${file}:${line}: healed: a process was killed while it wrote this line.`,
    ),
  ];
  const before = unchained > 0 ? ` after ${unchained} of earlier versions` : "";
  const verdict =
    breaks.length === 0
      ? "nothing is wrong with it"
      : `${breaks.length + more} breaks: somebody changed it, or its disk did`;
  const signed = `${checkpoints} of them checkpoints, ${unsigned} after the newest one`;
  const sum = `${log}: ${lines} chained lines${before}, ${signed}: ${verdict}.`;
  return [...places, sum].map((line) => `${line}\n`).join("");
}
