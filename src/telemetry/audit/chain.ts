import { hash } from "node:crypto";

/** Head of a chain of lines. */
export interface ChainHead {
  /** Number of lines. */
  readonly size: number;
  /** SHA-256 of its last line without the newline, in hex. */
  readonly sha256: string;
}

export const emptyChain: ChainHead = { size: 0, sha256: "0".repeat(64) };

/** Link of a line to those before it. */
export interface Link {
  /** Its own number in the chain; the first is 1. */
  readonly seq: number;
  /** SHA-256 of the line before it. */
  readonly prev: string;
}

export function sha256Of(bytes: string | Buffer): string {
  return hash("sha256", bytes, "hex");
}

/** Makes the line, without a newline, that stands for `json`, an object of ASCII, next in the chain. */
export function linkLine(json: string, { size, sha256 }: ChainHead): string {
  return `${json.slice(0, -1)},"seq":${size + 1},"prev":"${sha256}"}`;
}

/**
 * Link at the end of a JSON line. Only a key of the object itself can match
 * there, since quotes inside values are escaped.
 */
const link = /,"seq":([1-9]\d{0,15}),"prev":"([0-9a-f]{64})"\}$/;

/** Bytes of the longest text that `linkLine` adds. */
const longestLink = 128;

/** Returns undefined for a line that is not chained. */
export function readLink(line: Buffer): Link | undefined {
  const end = line.toString("latin1", Math.max(0, line.length - longestLink));
  const [, seq, prev = ""] = link.exec(end) ?? [];
  return seq === undefined ? undefined : { seq: Number(seq), prev };
}

/** Returns where the chain stands after `line`; undefined for a line that is not chained. */
export function headAt(line: Buffer): ChainHead | undefined {
  const found = readLink(line);
  return found && { size: found.seq, sha256: sha256Of(line) };
}
