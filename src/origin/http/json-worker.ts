import { OriginAnswerUnusable } from "../../errors/index.ts";
import type { ReadingPlace } from "./json-reading.ts";
import { parseJsonText } from "./json-text.ts";

export interface JsonTask extends ReadingPlace {
  readonly url: string;
  readonly bytes: Uint8Array;
}

/** Errors lose their class between threads, so that verdict crosses as a value. */
export type JsonAnswer =
  { readonly value: unknown } | { readonly unusable: string };

type Read = (url: URL, value: unknown, ...rest: readonly unknown[]) => unknown;

export default async function answer(task: JsonTask): Promise<JsonAnswer> {
  const { module, name, rest } = task;
  const exported = (await import(module)) as Readonly<Record<string, Read>>;
  const url = new URL(task.url);
  try {
    const value = parseJsonText(url, task.bytes);
    return { value: exported[name]?.(url, value, ...rest) };
  } catch (error) {
    if (error instanceof OriginAnswerUnusable)
      return { unusable: error.reason };
    throw error;
  }
}
