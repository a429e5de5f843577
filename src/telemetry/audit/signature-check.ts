import type { KeyObject } from "node:crypto";
import type { ChainHead, Link } from "./chain.ts";
import { openCheckpoint } from "./checkpoints.ts";
import type { LogBreak, LogPlace } from "./findings.ts";
import { readObject } from "./log-lines.ts";

/** A chained line. */
interface ChainedLine {
  readonly at: LogPlace;
  readonly link: Link;
  readonly sha256: string;
}

interface Signed {
  /** The name of the log's current file. */
  readonly log: string;
  readonly key: KeyObject;
  /** The note that is kept beside the log. */
  readonly note: string | undefined;
}

/** Only keys of the object itself can stand so. */
const mark = Buffer.from(`,"event":"checkpoint",`);
const begin = Buffer.from(`,"reason":"rotation","note":`);

/** Holds the lines of a log against what the store's key signed. */
export class SignatureCheck {
  readonly #signed: Signed;
  /** What the note beside the log says. */
  readonly #kept: ChainHead | undefined;
  /** Numbers of the last checkpoint and of the one before. */
  #newest = 0;
  #second = 0;
  #count = 0;

  constructor(signed: Signed) {
    const { note = "", log, key } = signed;
    this.#signed = signed;
    this.#kept = openCheckpoint(note, log, key);
  }

  /** Checkpoints in the log. */
  get count(): number {
    return this.#count;
  }

  countUnsigned({ size }: ChainHead): number {
    return size - Math.min(size, Math.max(this.#kept?.size ?? 0, this.#newest));
  }

  /** `isAnchor`: nothing but a signature tells of the lines before it. */
  take(
    bytes: Buffer,
    { at, link, sha256 }: ChainedLine,
    isAnchor: boolean,
  ): LogBreak | undefined {
    const isCheckpoint = bytes.includes(mark);
    const isKept = this.#kept?.size === link.seq;
    if (isKept && this.#kept.sha256 !== sha256) return { ...at, ...changed };
    const isBegin = isCheckpoint && bytes.includes(begin);
    if ((isKept && !isCheckpoint) || (isAnchor && !isBegin))
      return { ...at, ...missing };
    return isCheckpoint ? this.#takeCheckpoint(bytes, { at, link }) : undefined;
  }

  #takeCheckpoint(
    bytes: Buffer,
    { at, link }: Omit<ChainedLine, "sha256">,
  ): LogBreak | undefined {
    this.#count++;
    this.#second = this.#newest;
    this.#newest = link.seq;
    const { log, key } = this.#signed;
    const said = openCheckpoint(noteOf(bytes), log, key);
    const before = link.over?.after ?? link.prev;
    return said?.size === link.seq - 1 && said.sha256 === before
      ? undefined
      : { ...at, ...forged };
  }

  /** After the last line, which stands at `at`. */
  end(at: LogPlace, { size }: ChainHead): LogBreak | undefined {
    const kept = this.#kept;
    const tell = (problem: string) =>
      ({ ...at, kind: "checkpoint", problem }) as const;
    if (kept === undefined) {
      if (this.#signed.note !== undefined)
        return tell(
          "is the last one, and the newest checkpoint, beside the log, is not one that this store's key signed",
        );
      return size === 0
        ? undefined
        : tell(
            "is the last one, and the newest checkpoint, beside the log, is gone",
          );
    }
    if (kept.size > size)
      return {
        ...at,
        kind: "cut",
        problem: `is the last one: lines ${size + 1} to ${kept.size} of the chain, which the newest checkpoint signs for, are cut off`,
      };
    // A process that was killed may have kept no note of the last one.
    return kept.size < this.#second
      ? tell(
          "is the last one, and the newest checkpoint, beside the log, is older than those in it",
        )
      : undefined;
  }
}

const changed = {
  kind: "changed",
  problem: "is not the one that the newest checkpoint signs for",
} as const;

const missing = {
  kind: "checkpoint",
  problem: "stands where a checkpoint should be",
} as const;

const forged = {
  kind: "checkpoint",
  problem:
    "is a checkpoint that this store's key did not sign for the lines before it",
} as const;

function noteOf(line: Buffer): string {
  const { note } = (readObject(line.toString()) ?? {}) as { note?: unknown };
  return typeof note === "string" ? note : "";
}
