import { ProvenderError } from "../errors/index.ts";
import type { AuditLog } from "../telemetry/audit-log.ts";
import { respondWithError, statusOf } from "./http/error-response.ts";
import type {
  RequestContext,
  RequestMiddleware,
} from "./http/request-context.ts";
import { auditRefusal } from "./refusal-audit.ts";

/** Answers whatever is thrown further down. */
export function answerErrors(audit: AuditLog): RequestMiddleware {
  return async (ctx, next) => {
    try {
      await next();
    } catch (thrown) {
      const error = await audited(audit, ctx, thrown);
      const { note } = ctx.state;
      note.outcome = statusOf(error) < 500 ? "refused" : "failed";
      note.error = error;
      respondWithError(ctx, error);
    }
  };
}

/** A refusal is on disk before it is answered; when it cannot be, that is the answer. */
async function audited(
  audit: AuditLog,
  { params = {} }: RequestContext,
  error: unknown,
): Promise<unknown> {
  if (!(error instanceof ProvenderError) || statusOf(error) !== refusal)
    return error;
  try {
    await auditRefusal(audit, params, error);
    return error;
  } catch (unusable) {
    return unusable;
  }
}

const refusal = 451;
