import { InputInvalid } from "../../errors/index.ts";
import { tokenize, type Token } from "./dependency-lock-file-tokens.ts";

/** `NAME = EXPRESSION`; the expression's tokens without its comments and line ends are in `value`. */
export interface Attribute {
  readonly name: Token;
  readonly value: readonly Token[];
  /** With comments and line ends. */
  readonly written: readonly Token[];
}

/** `TYPE "LABEL"... { ... }` */
export interface Block {
  readonly type: Token;
  readonly labels: readonly Token[];
  readonly open: Token;
  readonly close: Token;
  readonly body: Body;
}

export interface Body {
  readonly attributes: readonly Attribute[];
  readonly blocks: readonly Block[];
}

const opening: ReadonlySet<string> = new Set(["[", "(", "{"]);
const closing: ReadonlySet<string> = new Set(["]", ")", "}"]);
const deepest = 32;

/** The structure of a lock file (HCL native syntax without templates and heredocs). Throws InputInvalid with FILE:LINE. */
export function parseLockFileSyntax(file: string, text: string): Body {
  const reader = new Reader(file, text);
  const body = parseBody(reader, 0);
  if (reader.token.kind !== "end") throw reader.unexpected("a provider block");
  return body;
}

class Reader {
  readonly #file: string;
  readonly #tokens: readonly Token[];
  #at = 0;

  constructor(file: string, text: string) {
    this.#file = file;
    this.#tokens = tokenize(file, text);
  }

  /** The token that is read next; at the end it stays the last one. */
  get token(): Token {
    return this.#tokens[this.#at] ?? endToken;
  }

  take(): Token {
    const { token } = this;
    if (token.kind !== "end") this.#at++;
    return token;
  }

  skip(...kinds: readonly Token["kind"][]): void {
    while (kinds.includes(this.token.kind)) this.take();
  }

  isMark(text: string): boolean {
    return this.token.kind === "mark" && this.token.text === text;
  }

  /** Nothing but a comment may follow on the line; a closing brace may. */
  expectLineEnd(): void {
    this.skip("comment");
    const { kind } = this.token;
    if (kind !== "end" && kind !== "newline" && !this.isMark("}"))
      throw this.unexpected("the end of the line");
  }

  unexpected(expected: string): InputInvalid {
    const { line, kind, text } = this.token;
    const found = kind === "word" || kind === "mark" ? `"${text}"` : kind;
    return new InputInvalid(
      `${this.#file}:${line}`,
      `expected ${expected}, got ${found}.`,
    );
  }
}

const endToken: Token = { kind: "end", start: 0, end: 0, line: 1, text: "" };

function parseBody(reader: Reader, depth: number): Body {
  const attributes: Attribute[] = [];
  const blocks: Block[] = [];
  for (;;) {
    reader.skip("newline", "comment");
    if (reader.token.kind === "end" || reader.isMark("}"))
      return { attributes, blocks };
    if (reader.token.kind !== "word")
      throw reader.unexpected("a block or an argument");
    const name = reader.take();
    if (reader.isMark("=")) attributes.push(parseAttribute(reader, name));
    else blocks.push(parseBlock(reader, name, depth));
    reader.expectLineEnd();
  }
}

function parseBlock(reader: Reader, type: Token, depth: number): Block {
  const labels: Token[] = [];
  while (reader.token.kind === "string" || reader.token.kind === "word")
    labels.push(reader.take());
  if (!reader.isMark("{") || depth === deepest)
    throw reader.unexpected('"=" or "{"');
  const open = reader.take();
  const body = parseBody(reader, depth + 1);
  if (!reader.isMark("}")) throw reader.unexpected('"}"');
  return { type, labels, open, close: reader.take(), body };
}

/** Up to the end of the line, but brackets and block comments span lines. */
function parseAttribute(reader: Reader, name: Token): Attribute {
  reader.take();
  const written: Token[] = [];
  let depth = 0;
  for (;;) {
    const { kind, text } = reader.token;
    if (kind === "end" && depth > 0) throw reader.unexpected("a bracket");
    if (kind === "end" || (kind === "newline" && depth === 0)) break;
    if (kind === "mark" && closing.has(text) && --depth < 0) break;
    if (kind === "mark" && opening.has(text)) depth++;
    written.push(reader.take());
  }
  const value = written.filter(
    ({ kind }) => kind !== "comment" && kind !== "newline",
  );
  if (value.length === 0) throw reader.unexpected("a value");
  return { name, value, written };
}
