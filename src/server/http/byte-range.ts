import { failure } from "../../errors/index.ts";
import type { ByteRange } from "../../mirror/archives/download.ts";

/** A range within a body of known size; `end` is exclusive. */
export interface SatisfiableRange extends ByteRange {
  readonly end: number;
}

/**
 * One `bytes` range (RFC 9110, 14.2). Undefined for several ranges and other units: these are answered
 * with the whole, as the RFC allows.
 */
export function parseByteRange(
  header: string,
  size: number,
  filename: string,
): SatisfiableRange | undefined {
  const match = /^bytes=(\d{0,15})-(\d{0,15})$/.exec(header.trim());
  const [, first = "", last = ""] = match ?? [];
  if (first === "" && last === "") return undefined;
  if (first !== "" && last !== "" && Number(last) < Number(first))
    return undefined;
  const start = first === "" ? Math.max(0, size - Number(last)) : Number(first);
  const end =
    first === "" || last === "" ? size : Math.min(Number(last) + 1, size);
  if (start >= end) throw failure("range-not-satisfiable", filename, size);
  return { start, end };
}
