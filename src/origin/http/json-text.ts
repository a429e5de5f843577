import { unusable } from "./http-failure.ts";

/** Registries' documents are six deep. */
const mostNesting = 100;
/** Objects and arrays together; a list of 50 000 versions with 15 platforms each has fewer than a million. */
const mostStructures = 2_000_000;
/** Of one object; a network mirror names each version, or each platform, by a key. */
const mostKeys = 100_000;

/**
 * The value of a JSON text in UTF-8. Throws OriginAnswerUnusable for what is
 * none, and before parsing for what would take hundreds of times its size in
 * memory or time: millions of nested arrays, of small ones, or of keys.
 */
export function parseJsonText(url: URL, bytes: Uint8Array): unknown {
  const problem = findProblem(bytes);
  if (problem !== undefined) throw unusable(url, problem);
  try {
    return JSON.parse(new TextDecoder("utf-8", { fatal: true }).decode(bytes));
  } catch (error) {
    throw unusable(url, "it is not JSON", { cause: error });
  }
}

/** Counts brackets outside strings; bytes of UTF-8 sequences are none of the characters looked for. */
function findProblem(bytes: Uint8Array): string | undefined {
  let depth = 0;
  let structures = 0;
  const keys: number[] = [];
  for (let at = 0; at < bytes.length; at++) {
    const byte = bytes[at];
    if (byte === quote) at = endOfString(bytes, at + 1);
    else if (byte === openBracket || byte === openBrace) {
      structures++;
      if (++depth > mostNesting)
        return `its brackets are nested more than ${mostNesting} deep`;
      if (structures > mostStructures)
        return `it has more than ${mostStructures} objects and arrays`;
      keys[depth] = 0;
    } else if (byte === colon) {
      const count = (keys[depth] = (keys[depth] ?? 0) + 1);
      if (count > mostKeys)
        return `an object in it has more than ${mostKeys} keys`;
    } else if (byte === closeBracket || byte === closeBrace) depth--;
  }
  return undefined;
}

function endOfString(bytes: Uint8Array, start: number): number {
  let at = start;
  while (at < bytes.length && bytes[at] !== quote)
    at += bytes[at] === backslash ? 2 : 1;
  return at;
}

const [quote, backslash] = Buffer.from('"\\');
const [colon] = Buffer.from(":");
const [openBracket, closeBracket] = Buffer.from("[]");
const [openBrace, closeBrace] = Buffer.from("{}");
