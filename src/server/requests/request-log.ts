import { ProvenderError } from "../../errors/index.ts";
import type { Logger } from "../../telemetry/logger.ts";
import type { Metrics } from "../../telemetry/metrics.ts";
import { requestKind, subjectOf } from "./subject.ts";
import type {
  RecordedRequest,
  RequestMiddleware,
} from "../http/request-context.ts";

/** Characters. */
const longestUserAgent = 200;

export function recordRequests(
  logger: Logger,
  metrics: Metrics,
): RequestMiddleware {
  return (ctx, next) => {
    recordWhenClosed(ctx, logger, metrics);
    return next();
  };
}

/** Counts a request and writes its one line, when its response ended or was cut. */
export function recordWhenClosed(
  request: RecordedRequest,
  logger: Logger,
  metrics: Metrics,
): void {
  const { req, res, state } = request;
  const { asker, path, note } = state;
  const { socket } = req;
  const start = performance.now();
  const before = socket.bytesWritten;
  res.once("close", () => {
    const { requestId, client, token } = asker;
    const { outcome, originTime, error, leftOut, reported } = note;
    const { statusCode: status, writableFinished: complete } = res;
    const ms = Math.round(performance.now() - start);
    // A connection that is gone may have forgotten what it wrote.
    const bytes = Math.max(0, socket.bytesWritten - before) || 0;
    const failure = error === undefined ? undefined : describeError(error);
    metrics.countRequest({
      ...{ outcome, status, bytes, milliseconds: ms },
      kind: requestKind(path),
      code: failure?.code,
    });
    const line = {
      requestId,
      client,
      token,
      method: req.method,
      path,
      ...subjectOf(request.params ?? {}),
      userAgent: req.headers["user-agent"]?.slice(0, longestUserAgent),
      status,
      outcome,
      complete,
      bytes,
      ms,
      originMs: Math.round(originTime),
      ...{ leftOut, reported },
    };
    logger.info({ ...line, ...failure }, "request");
  });
}

/** Our own errors speak for themselves; an unexpected one is logged with its stack. */
function describeError(error: unknown): {
  readonly code: string;
  readonly error?: string;
  readonly err?: unknown;
} {
  return error instanceof ProvenderError
    ? { code: error.code, error: error.message }
    : { code: "internal", err: error };
}
