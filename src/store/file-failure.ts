import { StoreFull } from "../errors/index.ts";

/** Why an operation on a file failed, as far as it decides what to do next. */
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

const cures: Readonly<Record<FileFailure, string>> = {
  full: "try again shortly, and make room on the mirror's disk",
  broken: "look at the mirror's disk and at how it is mounted",
  missing: "look at the mirror's disk and at how it is mounted",
  closed: "try again shortly",
  "short-of-means":
    "try again shortly, and allow the mirror more open files and memory",
};

/** Why `subject` cannot be stored, with the cure of the failure at hand. */
export function refuseToStore(subject: string, failure: unknown): StoreFull {
  const kind = classifyFileFailure(failure);
  const reason =
    kind === undefined ? "it cannot be written" : describeFailure(failure);
  return new StoreFull(subject, reason, cures[kind ?? "broken"], {
    cause: failure,
  });
}

/** Turns the failure of a disk that is full or broken into StoreFull; returns any other one as it is. */
export function asStoreFull(subject: string, error: unknown): unknown {
  const failure = classifyFileFailure(error);
  return failure === "full" || failure === "broken"
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
  if (code === undefined || syscall === undefined) return undefined;
  return failures[code] ?? "broken";
}

/** Returns the first failure, where closing the file failed too. */
function firstOf(error: unknown): unknown {
  return error instanceof SuppressedError ? firstOf(error.suppressed) : error;
}

/** Undefined for what is not there; throws every other failure. */
export function unlessMissing(error: unknown): undefined {
  if (classifyFileFailure(error) !== "missing") throw error;
}
