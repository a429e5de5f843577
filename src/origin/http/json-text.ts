import { unusable } from "./http-failure.ts";

/**
 * Limit of `[`, `{` and `:` together; a list of 5,000 versions for 25 platforms
 * has fewer.
 */
const mostMarks = 400_000;
const [bracket, brace, colon] = Buffer.from("[{:");

/**
 * Parses a JSON text in UTF-8. Throws origin-answer for other bytes. Also
 * throws it for a text whose objects and arrays take far more memory and time
 * than its size.
 */
export function parseJsonText(url: URL, bytes: Uint8Array): unknown {
  if (bytes.length > mostMarks && hasMoreMarks(bytes))
    throw unusable(url, "it has too many objects, arrays and keys");
  try {
    return JSON.parse(new TextDecoder("utf-8", { fatal: true }).decode(bytes));
  } catch (error) {
    throw unusable(url, "it is not JSON", { cause: error });
  }
}

function hasMoreMarks(bytes: Uint8Array): boolean {
  let count = 0;
  for (const byte of bytes)
    if (byte === bracket || byte === brace || byte === colon) count++;
  return count > mostMarks;
}
