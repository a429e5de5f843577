import { hash } from "node:crypto";
import { isRebuildable, type RecordKey } from "../layout.ts";
import type { ReadBody } from "./record-store.ts";

/** Content of a record. */
export interface Sealed {
  /** Number of changes; 0 for records that are written once. */
  readonly revision: number;
  /** JSON on one line. */
  readonly body: string;
}

/** What is there of a record. */
export type Settled =
  | { readonly kind: "absent" }
  | { readonly kind: "good"; readonly sealed: Sealed }
  | { readonly kind: "bad"; readonly problem: string };

/**
 * Parses the body of a record. Without a valid one, `passOver` gets the
 * reason, and throws if that matters.
 */
export function openSettled<T>(
  found: Settled,
  readBody: ReadBody<T>,
  passOver: (problem: string, cause?: unknown) => void,
): T | undefined {
  if (found.kind === "absent") return undefined;
  if (found.kind === "bad") {
    passOver(found.problem);
    return undefined;
  }
  try {
    return readBody(JSON.parse(found.sealed.body));
  } catch (error) {
    passOver("it is not in the form of its kind", error);
    return undefined;
  }
}

/**
 * Formats an object of two lines: a seal and the body. The seal has the record's
 * key, its revision and a SHA-256 of revision and body. So an object that was cut,
 * changed or renamed is recognized.
 */
export function seal(key: RecordKey, { revision, body }: Sealed): string {
  const name = key.join("/");
  const head =
    revision === 0
      ? { key: name, sha256: hash("sha256", body) }
      : { key: name, revision, sha256: hash("sha256", `${revision}\n${body}`) };
  return `${JSON.stringify(head)}\n${body}\n`;
}

/** Undefined for what was not sealed for this key. */
export function unseal(key: RecordKey, text: string): Sealed | undefined {
  const [head = "", body = ""] = text.split("\n", 2);
  const [, digits = "0"] = /"revision":([1-9][0-9]{0,14}),/.exec(head) ?? [];
  const sealed = { revision: Number(digits), body };
  return text === seal(key, sealed) ? sealed : undefined;
}

/**
 * Returns the next content of a record, with `body` and the revision after
 * `before`.
 */
export function nextSealed(
  key: RecordKey,
  before: Sealed | undefined,
  body: unknown,
): Sealed {
  const revision = isRebuildable(key) ? 0 : (before?.revision ?? 0) + 1;
  return { revision, body: JSON.stringify(body) };
}
