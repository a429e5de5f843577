import { isFailure, ProvenderError } from "../errors/index.ts";
import {
  errorOutcome,
  respondWithError,
  statusOf,
} from "./http/error-response.ts";
import type { OnUnexpected } from "./http/guarded.ts";
import type { PublicAddress } from "./protocols/public-address.ts";
import type {
  RequestContext,
  RequestMiddleware,
} from "./http/request-context.ts";
import type { RefusalAudit } from "./requests/refusal-audit.ts";
import { subjectOf } from "./requests/subject.ts";

/**
 * Answers errors of the handlers below. `onUnexpected` hears of errors outside
 * the table, unless the client has left.
 */
export function answerErrors(
  refusals: RefusalAudit,
  publicAddress: PublicAddress,
  onUnexpected: OnUnexpected,
): RequestMiddleware {
  return async (ctx, next) => {
    try {
      await next();
    } catch (thrown) {
      const error = await audited(refusals, ctx, thrown);
      const { note } = ctx.state;
      note.outcome = errorOutcome(error);
      note.error = error;
      if (statusOf(error) === internal && !ctx.res.destroyed)
        onUnexpected(error, "request");
      const subject = subjectOf(ctx.params ?? {});
      const page = isFailure(error, "wrong-mirror-url")
        ? error.base
        : publicAddress.whyUrl(ctx.req, subject);
      respondWithError(ctx, error, page);
    }
  };
}

/** A refusal is on disk before it is answered; when it cannot be, that is the answer. */
async function audited(
  refusals: RefusalAudit,
  { params = {}, state }: RequestContext,
  error: unknown,
): Promise<unknown> {
  if (!(error instanceof ProvenderError) || statusOf(error) !== refusal)
    return error;
  try {
    await refusals.record(params, error, state.client);
    return error;
  } catch (unusable) {
    return unusable;
  }
}

const refusal = 451;
const internal = 500;
