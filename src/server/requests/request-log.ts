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

/** How a request ended. */
interface End {
  readonly method: string | undefined;
  readonly userAgent: string | undefined;
  readonly status: number;
  /** All of the answer was sent. */
  readonly complete: boolean;
  /** Of the answer, with its head. */
  readonly bytes: number;
  /** When it began, in milliseconds on the monotonic clock. */
  readonly start: number;
}

export function recordRequests(
  logger: Logger,
  metrics: Metrics,
): RequestMiddleware {
  return (ctx, next) => {
    recordWhenClosed(ctx, logger, metrics);
    return next();
  };
}

/** Records a request when its response ended or was cut. */
export function recordWhenClosed(
  request: RecordedRequest,
  logger: Logger,
  metrics: Metrics,
): void {
  const { req, res } = request;
  const { socket, method } = req;
  const start = performance.now();
  const before = socket.bytesWritten;
  res.once("close", () => {
    const { statusCode: status, writableFinished: complete } = res;
    // A connection that is gone may have forgotten what it wrote.
    const bytes = Math.max(0, socket.bytesWritten - before) || 0;
    const userAgent = req.headers["user-agent"];
    const end = { method, userAgent, status, complete, bytes, start };
    recordRequest(request, end, logger, metrics);
  });
}

/** Counts a request and writes its one line. */
export function recordRequest(
  { state, params }: Pick<RecordedRequest, "state" | "params">,
  { method, userAgent, status, complete, bytes, start }: End,
  logger: Logger,
  metrics: Metrics,
): void {
  const { requestId, client, token } = state.asker;
  const { outcome, originTime, error, leftOut, reported } = state.note;
  const ms = Math.round(performance.now() - start);
  const failure = error === undefined ? undefined : describeError(error);
  metrics.countRequest({
    ...{ outcome, status, bytes, milliseconds: ms },
    kind: requestKind(state.path),
    code: failure?.code,
  });
  const line = {
    ...{ requestId, client, token, method },
    path: state.path,
    ...subjectOf(params ?? {}),
    userAgent: userAgent?.slice(0, longestUserAgent),
    ...{ status, outcome, complete, bytes, ms },
    originMs: Math.round(originTime),
    ...{ leftOut, reported },
  };
  logger.info(
    failure === undefined ? line : { ...line, ...failure },
    "request",
  );
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
