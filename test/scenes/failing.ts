import { expect } from "vitest";
import type { ErrorCode } from "../../src/errors/index.ts";

/** Matches an error of this code, as `toThrow` and `toEqual` take it. */
export function failing(code: ErrorCode): Error {
  return expect.objectContaining({ code }) as Error;
}
