import { InputInvalid } from "../../errors/index.ts";

/** A piece of a lock file; `start` and `end` are offsets into its text. */
export interface Token {
  readonly kind: "newline" | "comment" | "string" | "word" | "mark" | "end";
  readonly start: number;
  readonly end: number;
  /** That it starts on, from 1. */
  readonly line: number;
  /** As written; of a string without the quotes. */
  readonly text: string;
}

export function isMark(token: Token | undefined, text: string): boolean {
  return token?.kind === "mark" && token.text === text;
}

/** Matches one run at a time, because a repeated alternative takes memory for each repetition. */
const space = /[ \t]+|\r+(?!\n)/y;
const patterns = [
  ["newline", /\r?\n/y],
  ["comment", /(?:#|\/\/)[^\n]*?(?=\r?\n|$)/y],
  ["word", /[\p{L}\p{N}_][\p{L}\p{N}_.-]*/uy],
  // A heredoc has its own grammar, which no client writes into a lock file.
  ["mark", /(?!<<)[^\p{L}\p{N}\s]/uy],
] as const;

/** The text in pieces, comments and line ends included. Throws InputInvalid with FILE:LINE. */
export function tokenize(file: string, text: string): readonly Token[] {
  const tokens: Token[] = [];
  let line = 1;
  let at = text.startsWith("\uFEFF") ? 1 : 0;
  for (;;) {
    at = skipSpace(text, at);
    if (at === text.length) break;
    const token = tokenAt(text, at, line);
    if (token === undefined)
      throw new InputInvalid(
        `${file}:${line}`,
        `${JSON.stringify(text.slice(at, at + 20))} is not the syntax of a dependency lock file: let "init" write it anew.`,
      );
    tokens.push(token);
    line += countLines(token);
    at = token.end;
  }
  tokens.push({ kind: "end", start: at, end: at, line, text: "" });
  return tokens;
}

/** Only a block comment has several. */
function countLines({ kind, text }: Token): number {
  if (kind === "newline") return 1;
  return kind === "comment" ? text.split("\n").length - 1 : 0;
}

function tokenAt(text: string, start: number, line: number): Token | undefined {
  if (text.startsWith("/*", start)) return blockCommentAt(text, start, line);
  if (text[start] === '"') return stringAt(text, start, line);
  for (const [kind, pattern] of patterns) {
    pattern.lastIndex = start;
    const match = pattern.exec(text);
    if (match !== null)
      return {
        kind,
        start,
        end: start + match[0].length,
        line,
        text: match[1] ?? match[0],
      };
  }
  return undefined;
}

function skipSpace(text: string, start: number): number {
  let at = start;
  for (;;) {
    space.lastIndex = at;
    const length = space.exec(text)?.[0].length ?? 0;
    if (length === 0) return at;
    at += length;
  }
}

/** Undefined when its line ends first. */
function stringAt(
  text: string,
  start: number,
  line: number,
): Token | undefined {
  const special = /["\n]|\\(?!\n)/g;
  special.lastIndex = start + 1;
  for (;;) {
    const [found] = special.exec(text) ?? [];
    if (found === undefined || found === "\n") return undefined;
    const { lastIndex: end } = special;
    if (found === '"')
      return {
        kind: "string",
        start,
        end,
        line,
        text: text.slice(start + 1, end - 1),
      };
    special.lastIndex = end + 1;
  }
}

/** Undefined without an end, which must not be looked for again at the next mark. */
function blockCommentAt(
  text: string,
  start: number,
  line: number,
): Token | undefined {
  const close = text.indexOf("*/", start + 2);
  if (close < 0) return undefined;
  const end = close + 2;
  return { kind: "comment", start, end, line, text: text.slice(start, end) };
}
