import {
  isOriginFailure,
  OriginAnswerCut,
  OriginAnswerUnusable,
  OriginStatus,
  RecordUnreadable,
  SignatureUndecided,
  StoreFull,
  TooBusy,
} from "../../errors/index.ts";

/** Statuses of documents that a release does not have. */
const gone: ReadonlySet<number> = new Set([404, 410]);

/** True for a failure that says nothing of a release; a refusal, a document that is gone or one that no repetition makes usable says something. */
export function saysNothing(error: unknown): boolean {
  if (error instanceof OriginAnswerUnusable)
    return error instanceof OriginAnswerCut;
  if (error instanceof OriginStatus) return !gone.has(error.status);
  return (
    isOriginFailure(error) ||
    error instanceof TooBusy ||
    error instanceof StoreFull ||
    error instanceof SignatureUndecided ||
    error instanceof RecordUnreadable
  );
}
