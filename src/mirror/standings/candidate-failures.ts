import {
  isOriginFailure,
  NotFound,
  NotStored,
  OriginAnswerCut,
  OriginAnswerUnusable,
  ProvenderError,
  RecordUnreadable,
  SignatureUndecided,
  StoreFull,
  TooBusy,
  TooYoung,
} from "../../errors/index.ts";
import type { RefusalKind } from "./refused-versions.ts";

/** True for a failure that says nothing of a release; a refusal, an absence or a document that no repetition makes usable says something. */
export function saysNothing(error: unknown): boolean {
  if (error instanceof OriginAnswerUnusable)
    return error instanceof OriginAnswerCut;
  return (
    isOriginFailure(error) ||
    error instanceof TooBusy ||
    error instanceof StoreFull ||
    error instanceof SignatureUndecided ||
    error instanceof RecordUnreadable
  );
}

/** Undefined for a failure that says nothing of the release, and for one that is too young, which its age leaves out. */
export function refusalOf(error: unknown): RefusalKind | undefined {
  const isRefusal =
    error instanceof ProvenderError &&
    !(error instanceof TooYoung) &&
    !(error instanceof NotStored) &&
    !saysNothing(error);
  if (!isRefusal) return undefined;
  return error instanceof NotFound ? "phantom" : "refused";
}
