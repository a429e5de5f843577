import { ArchiveRefused } from "./limits.ts";

/** One header of a tar, as it stands. */
export interface TarBlock {
  readonly type: string;
  /** With the prefix before it; it may be cut inside a character. */
  readonly name: Buffer;
  readonly target: Buffer;
  readonly size: number;
  readonly mode: number;
}

export const blockBytes = 512;

const slash = Buffer.from("/");

/**
 * The fields of a header block (POSIX ustar, GNU or the older V7). Throws ArchiveRefused for a wrong checksum and for whatever readers take
 * for different things: numbers that do not start at their field's start, binary sizes, and formats that only look like these.
 */
export function parseTarBlock(block: Buffer): TarBlock {
  const sum = block.reduce(
    (sum, byte, at) => sum + (at >= 148 && at < 156 ? 32 : byte),
    0,
  );
  if (sum !== octalAt(block, 148, 8))
    throw new ArchiveRefused("a header has a wrong checksum");
  refuseOddFormat(block);
  oddNumbers.forEach(([start, length]) => refuseOdd(block, start, length));
  const name = textAt(block, 0, 100);
  // Zeros in every format but ustar.
  const prefix = textAt(block, 345, 155);
  return {
    type: block.toString("latin1", 156, 157),
    name: prefix.length === 0 ? name : Buffer.concat([prefix, slash, name]),
    target: textAt(block, 157, 100),
    size: octalAt(block, 124, 12),
    mode: octalAt(block, 100, 8),
  };
}

function refuseOddFormat(block: Buffer): void {
  const magic = block.toString("latin1", 257, 265);
  const isStar = block.toString("latin1", 508, 512) === "tar\0";
  const isPosix = magic === "ustar\x0000" && !isStar;
  // Some readers take what stands there for a name's beginning.
  const isGnu = magic === "ustar  \0" && isZero(block.subarray(345));
  const isOldest = isZero(block.subarray(257));
  if (!isPosix && !isGnu && !isOldest)
    throw new ArchiveRefused("a header is of an unknown format");
}

/** Numbers that say nothing here, but that a reader may stumble over; with their lengths. */
const oddNumbers = [
  [108, 8],
  [116, 8],
  [136, 12],
  [329, 8],
  [337, 8],
] as const;

function refuseOdd(block: Buffer, start: number, length: number): void {
  if (!isBinary(block, start, length)) octalAt(block, start, length);
}

/** A number of GNU tar beyond what octal digits say, of at most 63 bits. */
function isBinary(block: Buffer, start: number, length: number): boolean {
  const sign = block[start];
  if (sign !== 0x80 && sign !== 0xff) return false;
  const filling = sign === 0x80 ? 0 : 0xff;
  const beyond = block.subarray(start + 1, start + length - 8);
  const highest = block[start + length - 8] ?? 0;
  return (
    beyond.every((byte) => byte === filling) &&
    (length === 8 || highest >= 0x80 === (filling === 0xff))
  );
}

function octalAt(block: Buffer, start: number, length: number): number {
  const text = block.toString("latin1", start, start + length);
  const [, digits] = /^ *([0-7]*)[ \0]*$/.exec(text) ?? [];
  if (digits === undefined)
    throw new ArchiveRefused("a header has an unreadable number");
  return digits === "" ? 0 : parseInt(digits, 8);
}

function textAt(block: Buffer, start: number, length: number): Buffer {
  const field = block.subarray(start, start + length);
  const end = field.indexOf(0);
  return Buffer.from(end < 0 ? field : field.subarray(0, end));
}

const zeros = Buffer.alloc(1 << 15);

/** Of at most 32 KiB. */
export function isZero(bytes: Buffer): boolean {
  return bytes.equals(zeros.subarray(0, bytes.length));
}
