import {
  chmodSync,
  copyFileSync,
  globSync,
  mkdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  truncateSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { expect } from "vitest";

/** Damages to a file; `other` is a good one of another record of its kind. */
export const recordDamages: Readonly<
  Record<string, (path: string, other: string) => void>
> = {
  "cut in half": (path) =>
    truncateSync(path, Math.floor(readFileSync(path).length / 2)),
  flipped: (path) => {
    const bytes = readFileSync(path);
    const at = bytes.length - 10;
    bytes[at] = (bytes[at] ?? 0) ^ 1;
    writeFileSync(path, bytes);
  },
  "only its seal": (path) =>
    writeFileSync(path, readFileSync(path, "utf8").split("\n")[0] ?? ""),
  "no text": (path) => writeFileSync(path, Buffer.from([0xff, 0xfe, 0x7b])),
  emptied: (path) => writeFileSync(path, ""),
  "another's record": (path, other) => copyFileSync(other, path),
  "a link to another's record": (path, other) => {
    rmSync(path);
    symlinkSync(other, path);
  },
  "a folder": (path) => {
    rmSync(path);
    mkdirSync(path);
  },
  // Root ignores a file's mode, so a loop of links replaces the file.
  unreadable: (path) => {
    chmodSync(path, 0);
    if (process.getuid?.() !== 0) return;
    rmSync(path);
    symlinkSync(path, path);
  },
};

/** One kind of damage to one record, which is named by its path without `.json`. */
export interface RecordDamage {
  readonly damage: string;
  readonly record: string;
}

/** Both copies by default. */
export function damageRecord(
  directory: string,
  { damage, record }: RecordDamage,
  copies: readonly string[] = ["records", "record-copies"],
): void {
  for (const copy of copies) {
    const path = join(directory, copy, "v1", `${record}.json`);
    const other = globSync(join(directory, copy, "v1", "**", "*.json")).find(
      (found) => found !== path && readFileSync(found).length > 0,
    );
    recordDamages[damage]?.(path, other ?? expect.fail());
  }
}
