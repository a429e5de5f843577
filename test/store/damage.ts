import {
  mkdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  utimesSync,
  writeFileSync,
} from "node:fs";

/** Damages to the file at `path`; `other` is a good file of the same kind. */
export const damages: readonly {
  readonly kind: string;
  readonly apply: (path: string, other: string) => void;
}[] = [
  { kind: "missing", apply: (path) => rmSync(path) },
  {
    kind: "one bit flipped at the end, with its old times",
    apply: (path) => {
      const { atime, mtime } = statSync(path);
      const bytes = readFileSync(path);
      const at = bytes.length - 1;
      bytes[at] = (bytes[at] ?? 0) ^ 1;
      writeFileSync(path, bytes);
      utimesSync(path, atime, mtime);
    },
  },
  {
    kind: "swapped with another",
    apply: (path, other) => writeFileSync(path, readFileSync(other)),
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
    },
  },
];
