import { InputInvalid } from "../../errors/index.ts";

/** A piece of a lock file; `start` and `end` are offsets into its text. */
export interface Token {
  readonly kind: "newline" | "comment" | "string" | "word" | "mark" | "end";
  readonly start: number;
  readonly end: number;
  /** As written; of a string without the quotes. */
  readonly text: string;
}

const space = /(?:[ \t]|\r(?!\n))*/y;
const patterns = [
  ["newline", /\r?\n/y],
  ["comment", /(?:#|\/\/)[^\n]*?(?=\r?\n|$)|\/\*[^]*?\*\//y],
  ["string", /"((?:[^"\\\n]|\\[^\n])*)"/y],
  ["word", /[\p{L}\p{N}_][\p{L}\p{N}_.-]*/uy],
  // A heredoc has its own grammar, which no client writes into a lock file.
  ["mark", /(?!<<|")[^\p{L}\p{N}\s]/uy],
] as const;

/** The text in pieces, comments and line ends included. Throws InputInvalid with FILE:LINE. */
export function tokenize(file: string, text: string): readonly Token[] {
  const tokens: Token[] = [];
  let at = text.startsWith("\uFEFF") ? 1 : 0;
  for (;;) {
    space.lastIndex = at;
    at += space.exec(text)?.[0].length ?? 0;
    if (at === text.length) break;
    const token = tokenAt(text, at);
    if (token === undefined)
      throw new InputInvalid(
        `${file}:${lineOf(text, at)}`,
        `${JSON.stringify(text.slice(at, at + 20))} is not the syntax of a dependency lock file.`,
      );
    tokens.push(token);
    at = token.end;
  }
  tokens.push({ kind: "end", start: at, end: at, text: "" });
  return tokens;
}

/** The number of the line that holds an offset, from 1. */
export function lineOf(text: string, offset: number): number {
  let line = 1;
  for (
    let at = text.indexOf("\n");
    at >= 0 && at < offset;
    at = text.indexOf("\n", at + 1)
  )
    line++;
  return line;
}

function tokenAt(text: string, start: number): Token | undefined {
  for (const [kind, pattern] of patterns) {
    pattern.lastIndex = start;
    const match = pattern.exec(text);
    if (match !== null)
      return {
        kind,
        start,
        end: start + match[0].length,
        text: match[1] ?? match[0],
      };
  }
  return undefined;
}
