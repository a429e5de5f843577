import { readFileSync, writeFileSync } from "node:fs";

/** Numbers from 0 to below 1 that depend on the seed alone. */
export function randomFrom(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}

export const tamperings = [
  "changed",
  "dropped",
  "doubled",
  "swapped",
  "cut",
] as const;

type Tampering = (typeof tamperings)[number];

/** Does that to line `index` of a file, the first being 0; a cut takes all from there on. */
export function tamper(
  path: string,
  index: number,
  how: Tampering,
  random: () => number,
): void {
  const lines = readFileSync(path, "latin1").slice(0, -1).split("\n");
  const line = lines[index] ?? "";
  switch (how) {
    case "changed":
      lines[index] = changeByte(line, random);
      break;
    case "dropped":
      lines.splice(index, 1);
      break;
    case "doubled":
      lines.splice(index, 0, line);
      break;
    case "swapped":
      lines.splice(index, 2, lines[index + 1] ?? "", line);
      break;
    case "cut":
      lines.splice(index);
  }
  const text = lines.map((one) => `${one}\n`).join("");
  writeFileSync(path, text, "latin1");
}

function changeByte(line: string, random: () => number): string {
  const at = Math.floor(random() * line.length);
  const old = line.charCodeAt(at);
  const other = 0x21 + ((old - 0x21 + 1 + Math.floor(random() * 92)) % 93);
  return line.slice(0, at) + String.fromCharCode(other) + line.slice(at + 1);
}
