import type * as z from "zod";
import { unusable } from "../http/http-failure.ts";

/** Platforms of a release; publishers have about 15, and each is looked up for each document. */
export const mostPlatforms = 256;

export function checkShape<T>(
  url: URL,
  shape: z.ZodType<T>,
  value: unknown,
): T {
  const parsed = shape.safeParse(value);
  if (parsed.success) return parsed.data;
  const issue = parsed.error.issues[0];
  throw unusable(
    url,
    `at "${issue?.path.join(".") ?? ""}": ${issue?.message ?? "wrong shape"}`,
  );
}

/** UTF-16 code units; signed URLs of object storage have up to two thousand. */
const longestReference = 16 * 1024;

export function resolve(url: URL, reference: string): URL {
  if (reference.length > longestReference)
    throw unusable(url, "it holds a URL that is too long");
  const resolved = URL.parse(reference, url.href);
  if (resolved === null) throw unusable(url, "it holds an unusable URL");
  return resolved;
}

export function checkCount(
  url: URL,
  count: number,
  most: number,
  what: string,
): void {
  if (count > most) throw unusable(url, `it lists more than ${most} ${what}`);
}
