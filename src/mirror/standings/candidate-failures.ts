import {
  isCut,
  isFailure,
  isOriginFailure,
  ProvenderError,
} from "../../errors/index.ts";
import type { RefusalKind } from "./refused-versions.ts";

/**
 * True for a failure that proves nothing about a release. A refusal, an
 * absence, or a document that stays unusable does.
 */
export function saysNothing(error: unknown): boolean {
  if (isFailure(error, "origin-answer")) return isCut(error);
  return (
    isOriginFailure(error) ||
    isFailure(error, "too-busy", "store-full", "record-unreadable")
  );
}

/** Undefined for a failure that says nothing of the release, and for one that is too young, which its age leaves out. */
export function refusalOf(error: unknown): RefusalKind | undefined {
  const isRefusal =
    error instanceof ProvenderError &&
    !isFailure(error, "too-young", "not-stored") &&
    !saysNothing(error);
  if (!isRefusal) return undefined;
  return isFailure(error, "not-found") ? "phantom" : "refused";
}
