import { failure } from "../errors/index.ts";

/** Returns one part of an address; throws malformed-address for a text of another shape. */
export function parsePart(
  what: string,
  text: string,
  shape: RegExp,
  expected: string,
): string {
  if (!shape.test(text))
    throw failure("malformed-address", what, text, expected);
  return text;
}
