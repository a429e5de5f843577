import { createPublicKey } from "node:crypto";
import { basename } from "node:path";
import { BucketForeign } from "../../../errors/index.ts";
import { readLink } from "../../../telemetry/audit/chain.ts";
import {
  closeLogFiles,
  type LogFile,
} from "../../../telemetry/audit/log-files.ts";
import { readLogLines } from "../../../telemetry/audit/log-lines.ts";
import {
  openLog,
  type LogToRead,
} from "../../../telemetry/audit/verify-log.ts";
import { bodyOf } from "../bucket-connection.ts";
import type { Bucket } from "../bucket.ts";
import { auditSegment } from "../../layout.ts";
import {
  nameReplica,
  readAuditHead,
  writeAuditHead,
  type AuditHead,
} from "./audit-head.ts";

/** Bytes after which a segment ends. */
const largestSegment = 4 * 1024 * 1024;
/** Bytes of the largest segment that is read back: its last line, and unchained text, may exceed the above. */
export const largestObject = 4 * largestSegment;
/** Milliseconds after which lines are brought that nobody waits for. */
const interval = 60_000;

interface UploadParts {
  /** Does the work while no other process brings these logs, so that each knows what the other brought. */
  readonly exclusively: <T>(work: () => Promise<T>) => Promise<T>;
  /** Why nothing can be brought now; undefined when it can. */
  readonly problem: () => string | undefined;
  /** So many lines left the disk before they came into the bucket. */
  readonly onLost: (log: string, lines: number) => void;
  /** Tried again with the next lines. */
  readonly onFailed: (error: unknown) => void;
}

/** Lines of one log that go into one object. */
interface Segment {
  readonly first: number;
  readonly date: string;
  readonly pieces: Buffer[];
  size: number;
  last: number;
}

/** All lines before it were brought. */
interface Place {
  /** Tells the file from others that had its name before. */
  readonly file: string;
  readonly offset: number;
}

/**
 * Brings the audit logs of this replica into the bucket, as they are written.
 * The logs themselves are what waits while the bucket fails.
 */
export class AuditUpload {
  readonly #bucket: Bucket;
  readonly #logs: readonly LogToRead[];
  readonly #parts: UploadParts;
  readonly #places = new Map<string, Place>();
  readonly #timer: NodeJS.Timeout;
  #replica = "";
  #waiting: string | undefined;
  #running: Promise<void> = Promise.resolve();
  #next: Promise<void> | undefined;

  constructor(bucket: Bucket, logs: readonly LogToRead[], parts: UploadParts) {
    this.#bucket = bucket;
    this.#logs = logs;
    this.#parts = parts;
    this.#timer = setInterval(() => void this.bring(), interval).unref();
  }

  /** Resolves when all lines that are written by now are in the bucket, or wait for it. Never rejects; many share one round. */
  bring(): Promise<void> {
    this.#next ??= this.#running.then(() => {
      this.#next = undefined;
      this.#running = this.#bringAll();
      return this.#running;
    });
    return this.#next;
  }

  /** Brings what is left, if it is to. Returns why lines wait for the next process that does; undefined when none do. */
  async close(brings: boolean): Promise<string | undefined> {
    clearInterval(this.#timer);
    if (brings) await this.bring();
    await this.#running;
    await this.#bucket.close();
    return brings ? this.#waiting : undefined;
  }

  async #bringAll(): Promise<void> {
    this.#waiting = this.#parts.problem();
    if (this.#waiting !== undefined) return;
    try {
      await this.#parts.exclusively(() => this.#bringLogs());
    } catch (error) {
      // What the bucket has by now is unknown: look again.
      this.#places.clear();
      this.#waiting = (error as Error).message;
      this.#parts.onFailed(error);
    }
  }

  async #bringLogs(): Promise<void> {
    const head = await this.#open();
    const before = JSON.stringify(head);
    for (const log of this.#logs) await this.#bringLog(log, head);
    if (JSON.stringify(head) !== before)
      await writeAuditHead(this.#bucket, this.#replica, head);
  }

  async #open(): Promise<AuditHead> {
    const [log] = this.#logs;
    if (log === undefined) return { key: "", logs: {} };
    const signing = await log.checkpoints.key;
    this.#replica = nameReplica(signing);
    const known = await readAuditHead(this.#bucket, this.#replica);
    const key = createPublicKey(signing).export({
      type: "spki",
      format: "pem",
    });
    return known ?? { key: key.toString(), logs: {} };
  }

  async #bringLog(log: LogToRead, head: AuditHead): Promise<void> {
    const name = basename(log.path, ".jsonl");
    const { files, note } = await openLog(log);
    try {
      const state = (head.logs[name] ??= { lines: 0 });
      for await (const segment of this.#cut(name, files, state.lines)) {
        if (segment.first > state.lines + 1)
          this.#parts.onLost(name, segment.first - state.lines - 1);
        state.lines = await this.#put(name, segment);
        // A process that was killed brought other lines under this name.
        if (state.lines !== segment.last) {
          this.#places.delete(name);
          await this.#bringLog(log, head);
          return;
        }
      }
      state.note = note;
    } finally {
      await closeLogFiles(files);
    }
  }

  /** What follows the first `known` lines of the chain, with what lies between. */
  async *#cut(
    name: string,
    files: readonly LogFile[],
    known: number,
  ): AsyncGenerator<Segment> {
    let segment: Segment | undefined;
    let passed: Buffer[] = [];
    let end: Place | undefined;
    let newest = known;
    for await (const { bytes, place } of readFrom(
      files,
      this.#places.get(name),
      known,
    )) {
      passed.push(bytes, newline);
      const link = readLink(bytes);
      if (link === undefined) continue;
      end = place;
      newest = link.seq;
      if (link.seq > known) {
        segment ??= begin(link.seq, bytes);
        extend(segment, link.seq, passed);
      }
      passed = [];
      if (segment === undefined || segment.size < largestSegment) continue;
      yield segment;
      segment = undefined;
    }
    if (newest < known)
      throw this.#foreign(
        `it says that it has ${known} lines of ${name}, which has ${newest}`,
      );
    if (segment !== undefined) yield segment;
    if (end !== undefined) this.#places.set(name, end);
  }

  #foreign(problem: string): BucketForeign {
    const cure = `restore "audit/" of the storage directory if it lost lines, or move what replica ${this.#replica} did not write out of the bucket's "audit/v1/"`;
    return new BucketForeign(this.#bucket.name, problem, cure);
  }

  /** Returns the number of the last line that the bucket has under this name. */
  async #put(log: string, segment: Segment): Promise<number> {
    const { date, first: seq, pieces, last } = segment;
    const key = auditSegment({ date, replica: this.#replica, log, seq });
    const lines = Buffer.concat(pieces);
    const absent = { kind: "absent" } as const;
    const put = await this.#bucket.putIf(key, bodyOf(lines), absent);
    if (put.kind === "written") return last;
    const found = await this.#bucket.get(key);
    if (found === undefined && put.kind === "unknown") throw put.failure;
    if (found === undefined) throw this.#foreign(`${key} left it`);
    const text = await this.#bucket.readText(found, largestObject);
    const link = readLink(Buffer.from(text.split("\n").at(-2) ?? ""));
    // What another process brought is how this begins: the log only grows.
    if (link && lines.toString().startsWith(text)) return link.seq;
    throw this.#foreign(`${key} is not of this log`);
  }
}

const newline = Buffer.from("\n");

function begin(first: number, line: Buffer): Segment {
  const [, date = "1970-01-01"] =
    /"at":"([\d-]{10})T/.exec(line.toString("latin1")) ?? [];
  return { first, date, pieces: [], size: 0, last: first };
}

function extend(
  segment: Segment,
  last: number,
  pieces: readonly Buffer[],
): void {
  segment.pieces.push(...pieces);
  segment.size += pieces.reduce((sum, { length }) => sum + length, 0);
  segment.last = last;
}

/** The lines behind `place`, or when its file has left all that may follow the first `known`; but for one at the end that is not finished. */
async function* readFrom(
  files: readonly LogFile[],
  place: Place | undefined,
  known: number,
): AsyncGenerator<{ readonly bytes: Buffer; readonly place: Place }> {
  const named = await Promise.all(
    files.map(async (file) => ({ ...file, id: await identify(file) })),
  );
  const left = named.findIndex(({ id }) => id === place?.file);
  const start = left < 0 ? await findStart(files, known) : left;
  for (const { id, handle, size, number } of named.slice(start)) {
    let offset = id === place?.file ? place.offset : 0;
    for await (const lines of readLogLines(handle, size, offset))
      for (const { bytes, isEnded } of lines) {
        offset += bytes.length + (isEnded ? 1 : 0);
        const isUnfinished = !isEnded && number === 0 && offset === size;
        if (!isUnfinished) yield { bytes, place: { file: id, offset } };
      }
  }
}

/** The newest file that begins with a known line. */
async function findStart(
  files: readonly LogFile[],
  known: number,
): Promise<number> {
  for (let index = files.length - 1; index > 0; index--) {
    const seq = await readFirst(files[index]);
    if (seq !== undefined && seq <= known) return index;
  }
  return 0;
}

/** The number of the first line of a file; undefined when that is not chained. */
async function readFirst(
  file: LogFile | undefined,
): Promise<number | undefined> {
  if (file === undefined) return undefined;
  for await (const [line] of readLogLines(file.handle, file.size))
    if (line !== undefined) return readLink(line.bytes)?.seq;
  return undefined;
}

async function identify({ handle }: LogFile): Promise<string> {
  const { ino, birthtimeMs } = await handle.stat();
  return `${ino} ${birthtimeMs}`;
}
