import { readFile } from "node:fs/promises";
import { relative } from "node:path";
import type { z } from "zod";
import { failure } from "../errors/index.ts";
import { unlessMissing } from "./file-failure.ts";

/** Parses a text in the form of `shape`; undefined for any other text. */
export function readJson<T>(shape: z.ZodType<T>, text: string): T | undefined {
  try {
    return shape.parse(JSON.parse(text));
  } catch {
    return undefined;
  }
}

/**
 * Parses a file of the storage directory; undefined where there is none. Throws
 * record-unreadable, with `remedy`, for any other text.
 */
export async function readJsonFile<T>(
  shape: z.ZodType<T>,
  { directory }: { readonly directory: string },
  path: string,
  remedy: string,
): Promise<T | undefined> {
  const text = await readFile(path, "utf8").catch(unlessMissing);
  if (text === undefined) return undefined;
  const said = readJson(shape, text);
  if (said !== undefined) return said;
  const file = relative(directory, path);
  throw failure("record-unreadable", file, "it is cut or changed", remedy);
}
