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

export const damages: readonly Damage[] = [
  {
    kind: "cut in half",
    apply: (path) => cut(path, (size) => Math.floor(size / 2)),
  },
  { kind: "missing", apply: (path) => rmSync(path) },
  {
    kind: "one bit flipped at the end, with its old times",
    apply: (path) => {
      const { atime, mtime } = statSync(path);
      change(path, (bytes) => flip(bytes, bytes.length - 1));
      utimesSync(path, atime, mtime);
    },
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
