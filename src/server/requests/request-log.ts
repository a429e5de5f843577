import { ProvenderError } from "../../errors/index.ts";
import type { Logger } from "../../telemetry/logger.ts";
import type { Metrics } from "../../telemetry/metrics.ts";
import type { RequestContext } from "../http/request-context.ts";
import { requestKind, subjectOf } from "./subject.ts";

/** Characters. */
const longestUserAgent = 200;

/** Counts a request and writes its one line when its response ended or was cut. */
export function recordWhenClosed(
  logger: Logger,
  metrics: Metrics,
): (ctx: RequestContext) => void {
  return (ctx) => {
    const { req, res } = ctx;
    const { socket, method } = req;
    const start = performance.now();
    const before = socket.bytesWritten;
    res.on("close", () => {
      // A connection that is gone may have forgotten what it wrote.
      const bytes = Math.max(0, socket.bytesWritten - before) || 0;
      const ms = Math.round(performance.now() - start);
      const { state, params = {} } = ctx;
      const { path, note, asker } = state;
      const { outcome, originTime, error, leftOut, reported } = note;
      const { statusCode: status, writableFinished: complete } = res;
      const failure = error === undefined ? undefined : describeError(error);
      const kind = requestKind(path);
      const code = failure?.code;
      const counted = { kind, outcome, status, milliseconds: ms, bytes, code };
      metrics.countRequest(counted);
      const { requestId, client, token } = asker;
      const line = {
        ...{ requestId, client, bytes, ms, originMs: Math.round(originTime) },
        ...{ token, method, path },
        ...subjectOf(params),
        userAgent: req.headers["user-agent"]?.slice(0, longestUserAgent),
        ...{ status, outcome, complete, leftOut, reported },
        ...failure,
      };
      logger.info(line, "request");
    });
  };
}

/**
 * Describes an error. Our own errors need no stack; an unexpected one is logged
 * with it.
 */
function describeError(error: unknown): {
  readonly code: string;
  readonly error?: string;
  readonly err?: unknown;
} {
  return error instanceof ProvenderError
    ? { code: error.code, error: error.message }
    : { code: "internal", err: error };
}
