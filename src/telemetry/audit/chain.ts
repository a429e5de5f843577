import { hash } from "node:crypto";

/** Where a chain of lines stands. */
export interface ChainHead {
  /** How many lines it has. */
  readonly size: number;
  /** SHA-256 of its last line without the newline, in hex. */
  readonly sha256: string;
}

export const emptyChain: ChainHead = { size: 0, sha256: "0".repeat(64) };

/** Lines without a place in the chain that lie between two of its lines, or before the first one: of earlier versions, or cut short. */
export interface Gap {
  /** By file, oldest first: SHA-256 of these lines, each with a newline. */
  readonly runs: readonly string[];
  /** SHA-256 of the last of them without the newline. */
  readonly last: string;
}

/** What a line says of those before it. */
export interface Link {
  /** Its own number in the chain; the first is 1. */
  readonly seq: number;
  /** SHA-256 of the line before it in the file. */
  readonly prev: string;
  /** With a gap before it: SHA-256 of the line before it in the chain, and the runs of the gap. */
  readonly over?: { readonly after: string; readonly runs: readonly string[] };
}

export function sha256Of(bytes: string | Buffer): string {
  return hash("sha256", bytes, "hex");
}

/** The line, without a newline, that stands for `json`, an object of ASCII, next in the chain. */
export function linkLine(
  json: string,
  { size, sha256 }: ChainHead,
  gap: Gap | undefined,
): string {
  const over =
    gap === undefined
      ? ""
      : `,"after":"${sha256}","unchained":${JSON.stringify(gap.runs)}`;
  const prev = gap?.last ?? sha256;
  return `${json.slice(0, -1)}${over},"seq":${size + 1},"prev":"${prev}"}`;
}

/** At the end of a line of JSON only a key of the object itself can stand so: quotes inside of values are escaped. */
const link =
  /(?:,"after":"([0-9a-f]{64})","unchained":\[((?:"[0-9a-f]{64}",?)*)\])?,"seq":([1-9]\d{0,15}),"prev":"([0-9a-f]{64})"\}$/;

/** Bytes of the longest text that `linkLine` adds, with as many files in a gap as a log can have. */
const longestLink = 2048;

/** Undefined for a line that is not chained. */
export function readLink(line: Buffer): Link | undefined {
  const end = line.toString("latin1", Math.max(0, line.length - longestLink));
  const found = link.exec(end);
  if (found === null) return undefined;
  const [, after, runs = "", seq = "", prev = ""] = found;
  const own = { seq: Number(seq), prev };
  if (after === undefined) return own;
  return { ...own, over: { after, runs: runs.match(/[0-9a-f]{64}/g) ?? [] } };
}
