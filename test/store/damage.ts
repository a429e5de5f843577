import {
  appendFileSync,
  mkdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  truncateSync,
  utimesSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";

/** Damage to the file at `path`; `other` is a good file of the same kind. */
export interface Damage {
  readonly kind: string;
  readonly apply: (path: string, other: string) => void;
}

const page = 4096;

export const damages: readonly Damage[] = [
  { kind: "cut by one byte", apply: (path) => cut(path, (size) => size - 1) },
  {
    kind: "cut in half",
    apply: (path) => cut(path, (size) => Math.floor(size / 2)),
  },
  { kind: "empty", apply: (path) => cut(path, () => 0) },
  { kind: "missing", apply: (path) => rmSync(path) },
  {
    kind: "one bit flipped at the start",
    apply: (path) => change(path, (bytes) => flip(bytes, 0)),
  },
  {
    kind: "one bit flipped at the end, with its old times",
    apply: (path) => {
      const { atime, mtime } = statSync(path);
      change(path, (bytes) => flip(bytes, bytes.length - 1));
      utimesSync(path, atime, mtime);
    },
  },
  {
    kind: "a zeroed page",
    apply: (path) =>
      change(path, (bytes) => {
        const middle = Math.floor(bytes.length / 2 / page) * page;
        bytes.fill(0, middle, Math.min(middle + page, bytes.length));
      }),
  },
  {
    kind: "zeroed as a whole",
    apply: (path) => change(path, (bytes) => bytes.fill(0)),
  },
  {
    kind: "swapped with another",
    apply: (path, other) => writeFileSync(path, readFileSync(other)),
  },
  { kind: "a byte too many", apply: (path) => appendFileSync(path, "x") },
  {
    kind: "followed by a zeroed page",
    apply: (path) => appendFileSync(path, Buffer.alloc(page)),
  },
  {
    kind: "a link to another",
    apply: (path, other) => {
      rmSync(path);
      symlinkSync(other, path);
    },
  },
  {
    kind: "a folder",
    apply: (path) => {
      rmSync(path);
      mkdirSync(path);
      writeFileSync(join(path, "file"), "x");
    },
  },
];

function cut(path: string, sizeOf: (size: number) => number): void {
  truncateSync(path, sizeOf(statSync(path).size));
}

function change(path: string, change: (bytes: Buffer) => unknown): void {
  const bytes = readFileSync(path);
  change(bytes);
  writeFileSync(path, bytes);
}

function flip(bytes: Buffer, at: number): void {
  bytes[at] = (bytes[at] ?? 0) ^ 1;
}
