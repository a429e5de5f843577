import { OriginAnswerUnusable } from "../../errors/index.ts";
import { formatPublicUrl } from "../guard/public-url.ts";

/** Registries' documents are six deep. */
const mostNesting = 100;
/** Objects and arrays together; a list of 50 000 versions with 15 platforms each has fewer than a million. */
const mostStructures = 2_000_000;

/**
 * The value of a JSON text in UTF-8. Throws OriginAnswerUnusable for what is
 * none, and before parsing for what would take hundreds of times its size in
 * memory: millions of nested arrays, or of small ones.
 */
export function parseJsonText(url: URL, bytes: Uint8Array): unknown {
  const problem = findProblem(bytes);
  if (problem !== undefined)
    throw new OriginAnswerUnusable(formatPublicUrl(url), problem);
  try {
    return JSON.parse(new TextDecoder("utf-8", { fatal: true }).decode(bytes));
  } catch (error) {
    throw new OriginAnswerUnusable(formatPublicUrl(url), "it is not JSON", {
      cause: error,
    });
  }
}

/** Counts brackets outside strings; bytes of UTF-8 sequences are none of the characters looked for. */
function findProblem(bytes: Uint8Array): string | undefined {
  let depth = 0;
  let structures = 0;
  for (let at = 0; at < bytes.length; at++) {
    const byte = bytes[at];
    if (byte === quote) at = endOfString(bytes, at + 1);
    else if (byte === openBracket || byte === openBrace) {
      structures++;
      if (++depth > mostNesting)
        return `its brackets are nested more than ${mostNesting} deep`;
      if (structures > mostStructures)
        return `it has more than ${mostStructures} objects and arrays`;
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
const [openBracket, closeBracket] = Buffer.from("[]");
const [openBrace, closeBrace] = Buffer.from("{}");
