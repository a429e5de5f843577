import { Violation } from "../oracle/violation.ts";
import type { Digests } from "./documents.ts";
import { DiskFull } from "./records.ts";
import {
  isFailure,
  isOriginFailure,
  ProvenderError,
} from "../../../src/errors/index.ts";

/** Ways in which clients ask: index.json, VERSION.json, one archive, or a version that a command names. */
export type Face = "index" | "version" | "archive" | "recall";

/** Answer to a client. */
export type Answer =
  | { readonly kind: "versions"; readonly versions: readonly string[] }
  /** SHA-256 by OS_ARCH. */
  | { readonly kind: "packages"; readonly packages: Digests }
  /** Decided: it may not be had, or does not exist. */
  | { readonly kind: "refused"; readonly code: string }
  /** Not decided: an origin, a record or the disk failed. */
  | { readonly kind: "failed"; readonly code: string }
  /** A command did what it was for. */
  | { readonly kind: "done" }
  /** The process died before it could answer. */
  | { readonly kind: "dead" };

/** Sorts a failure; throws what no code foresaw. */
export function readFailure(error: unknown): Answer {
  if (error instanceof DiskFull) return { kind: "failed", code: error.code };
  if (!(error instanceof ProvenderError)) throw error;
  const { code } = error;
  const isUndecided =
    isOriginFailure(error) ||
    isFailure(
      error,
      "record-unreadable",
      "store-full",
      "store-unusable",
      "too-busy",
    );
  return { kind: isUndecided ? "failed" : "refused", code };
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

/** Names a failure that the code did not foresee. Throws Violation. */
export function readUnforeseen(error: unknown): never {
  if (error instanceof Violation) throw error;
  const { stack } = error as Error;
  throw new Violation(0, `a failure that no code foresaw: ${stack}`);
}
