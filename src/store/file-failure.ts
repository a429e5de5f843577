import { failure, type Failure } from "../errors/index.ts";

/** Of a failed operation, as far as it decides what to do next. */
type FileFailure =
  /** There is no such file. */
  | "missing"
  /** This process lacks something for a while: descriptors or memory. */
  | "short-of-means"
  /** Its own handle was closed. */
  | "closed"
  /** No space, no inodes or no quota. */
  | "full"
  /** The disk fails, or what is there is not a file that can be used. */
  | "broken";

const failures: Readonly<Record<string, FileFailure>> = {
  ENOENT: "missing",
  ENOTDIR: "missing",
  EMFILE: "short-of-means",
  ENFILE: "short-of-means",
  ENOMEM: "short-of-means",
  EAGAIN: "short-of-means",
  EBADF: "closed",
  ENOSPC: "full",
  EDQUOT: "full",
  EFBIG: "full",
};

/** SQLite's primary result codes (sqlite.org/rescode.html). */
const sqliteFailures: Readonly<Record<number, FileFailure>> = {
  5: "short-of-means",
  6: "short-of-means",
  7: "short-of-means",
  8: "broken",
  10: "broken",
  11: "broken",
  13: "full",
  14: "broken",
  26: "broken",
};

const remedies: Readonly<Record<FileFailure, string>> = {
  full: "try again shortly, and make room on the mirror's disk",
  broken: "look at the mirror's disk and at how it is mounted",
  missing: "look at the mirror's disk and at how it is mounted",
  closed: "try again shortly",
  "short-of-means":
    "try again shortly, and allow the mirror more open files and memory",
};

/** Why `subject` cannot be stored, with the remedy of the failure at hand. */
export function refuseToStore(
  subject: string,
  cause: unknown,
): Failure<"store-full"> {
  const kind = classifyFileFailure(cause);
  const reason = kind ? describeFailure(cause) : "it cannot be written";
  const remedy = remedies[kind ?? "broken"];
  return failure("store-full", subject, reason, remedy, { cause });
}

/** Turns the failure of a disk that is full or broken into store-full; returns any other one as it is. */
export function asStoreFull(subject: string, error: unknown): unknown {
  const kind = classifyFileFailure(error);
  return kind === "full" || kind === "broken"
    ? refuseToStore(subject, error)
    : error;
}

/** Returns the system's message, without the path. */
export function describeFailure(error: unknown): string {
  const { message } = firstOf(error) as NodeJS.ErrnoException;
  return message.replace(/, \w+(?: '.*)?$/, "");
}

/** Undefined for what is no failure of a system call. */
export function classifyFileFailure(error: unknown): FileFailure | undefined {
  const { code, syscall } = (firstOf(error) ?? {}) as NodeJS.ErrnoException;
  const sqlite = sqliteCode(error);
  if (sqlite !== undefined) return sqliteFailures[sqlite];
  if (code === undefined || syscall === undefined) return undefined;
  return failures[code] ?? "broken";
}

/** True where SQLite found that what is there is no database of its own, or a damaged one. */
export function isDamage(error: unknown): boolean {
  return [11, 26].includes(sqliteCode(error) ?? 0);
}

/** True where SQLite could not write a file. */
export function lacksRoom(error: unknown): boolean {
  return [10, 13].includes(sqliteCode(error) ?? 0);
}

/** Undefined for what is no failure of SQLite. */
function sqliteCode(error: unknown): number | undefined {
  const { code, errcode } = (error ?? {}) as {
    readonly code?: unknown;
    readonly errcode?: number;
  };
  return code === "ERR_SQLITE_ERROR" ? (errcode ?? 0) & 0xff : undefined;
}

/** Returns the first failure, where closing the file failed too. */
function firstOf(error: unknown): unknown {
  return error instanceof SuppressedError ? firstOf(error.suppressed) : error;
}

/** Undefined for what is not there. */
export function unlessMissing(error: unknown): undefined {
  const { code = "" } = error as NodeJS.ErrnoException;
  if (failures[code] !== "missing") throw error;
}
