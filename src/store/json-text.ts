import type { z } from "zod";

/** What a text says in the form of `shape`; undefined for any other text. */
export function readJson<T>(shape: z.ZodType<T>, text: string): T | undefined {
  try {
    return shape.parse(JSON.parse(text));
  } catch {
    return undefined;
  }
}
