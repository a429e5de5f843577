import {
  factsOf,
  failure,
  type ErrorCode,
  type ProvenderError,
} from "../../src/errors/index.ts";

type AnyFailure = (
  code: ErrorCode,
  ...facts: readonly unknown[]
) => ProvenderError;

/** Makes an error of any code whose facts have the given text wherever they may have one. */
export function anyError(code: ErrorCode, text: string): ProvenderError {
  const make = failure as AnyFailure;
  const provider = { hostname: text, namespace: text, type: text };
  const known: Readonly<Record<string, unknown>> = {
    availableAt: new Date("2026-11-22T10:00:00Z"),
    because: "unknown",
    computed: [text],
    listed: [text],
    missing: "signature",
    reasons: [text],
    release: { provider, version: text },
  };
  return make(code, ...factsOf(code).map((name) => known[name] ?? text));
}
