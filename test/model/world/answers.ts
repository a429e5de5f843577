import {
  isFailure,
  isOriginFailure,
  ProvenderError,
} from "../../../src/errors/index.ts";
import { Violation } from "../oracle/violation.ts";
import type { Digests, ReleaseName } from "./documents.ts";

/** Ways in which clients ask: index.json, VERSION.json, one archive, or a version that a command names. */
export type Face = "index" | "version" | "archive" | "recall";

export interface Ask extends ReleaseName {
  readonly face: Face;
  readonly platform: string;
  readonly process: number;
}

/** Answer to a client or an operator. */
export type Answer =
  | { readonly kind: "versions"; readonly versions: readonly string[] }
  /** SHA-256 by OS_ARCH. */
  | { readonly kind: "packages"; readonly packages: Digests }
  /** Decided: it may not be had, or does not exist. */
  | { readonly kind: "refused"; readonly code: string }
  /** Not decided: an origin, a record or the disk failed. */
  | { readonly kind: "failed"; readonly code: string }
  /** A command did what it was for, and printed this. */
  | { readonly kind: "done"; readonly text: string }
  /** The process died before it could answer. */
  | { readonly kind: "dead" };

/** Sorts a failure. Throws Violation for what no code foresaw. */
export function readFailure(error: unknown): Answer {
  if (error instanceof Violation) throw error;
  if ((error as { readonly code?: unknown }).code === "ENOSPC")
    return { kind: "failed", code: "ENOSPC" };
  if (!(error instanceof ProvenderError)) {
    const { stack } = error as Error;
    throw new Violation(0, `a failure that no code foresaw: ${stack}`);
  }
  const isUndecided =
    isOriginFailure(error) ||
    isFailure(
      error,
      "record-unreadable",
      "store-full",
      "store-unusable",
      "too-busy",
    );
  return { kind: isUndecided ? "failed" : "refused", code: error.code };
}

/** False where an origin, a record or the disk failed, or the process died. */
export function isDecided({ kind }: Answer): boolean {
  return kind !== "failed" && kind !== "dead";
}

export function formatAnswer(answer: Answer): string {
  switch (answer.kind) {
    case "versions":
      return `lists ${answer.versions.join(" ") || "nothing"}`;
    case "packages":
      return Object.entries(answer.packages)
        .map(([platform, sha256]) => `${platform} ${sha256.slice(0, 6)}`)
        .join(", ");
    case "refused":
    case "failed":
      return `${answer.kind} ${answer.code}`;
    case "done":
    case "dead":
      return answer.kind;
  }
}
