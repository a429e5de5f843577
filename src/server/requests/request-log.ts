import { ProvenderError } from "../../errors/index.ts";
import type { Log, Logger } from "../../telemetry/logger.ts";
import type { Metrics } from "../../telemetry/metrics.ts";
import type {
  LineForm,
  RepeatedLines,
} from "../../telemetry/repeated-lines.ts";
import type { RecordedRequest } from "../http/request-context.ts";
import { requestKind, subjectOf } from "./subject.ts";

const message = "request";
/** Characters. */
const longestUserAgent = 200;

type Recorded = Pick<RecordedRequest, "state" | "params">;

/** What was asked how, and how it was answered. */
interface Ending {
  readonly method: string | undefined;
  readonly userAgent: string | undefined;
  readonly status: number;
  /** All of the answer was sent. */
  readonly complete: boolean;
}

/** How a request ended. */
interface End extends Ending {
  /** Of the answer, with its head. */
  readonly bytes: number;
  /** When it began, in milliseconds on the monotonic clock. */
  readonly start: number;
}

/** Counts each request and writes its one line, however it ends. */
export class RequestLog {
  readonly #logger: Logger;
  readonly #repeated: RepeatedLines;
  readonly #metrics: Metrics;

  constructor({ logger, repeated }: Log, metrics: Metrics) {
    this.#logger = logger;
    this.#repeated = repeated();
    this.#metrics = metrics;
  }

  /** Records a request when its response ended or was cut. */
  recordWhenClosed(request: RecordedRequest): void {
    const { req, res } = request;
    const { socket, method } = req;
    const start = performance.now();
    const before = socket.bytesWritten;
    res.on("close", () => {
      const { statusCode: status, writableFinished: complete } = res;
      // A connection that is gone may have forgotten what it wrote.
      const bytes = Math.max(0, socket.bytesWritten - before) || 0;
      const userAgent = req.headers["user-agent"];
      const ending = { method, userAgent, status, complete };
      this.record(request, { ...ending, bytes, start });
    });
  }

  /** `form` is the one of such a request, where it is known. */
  record(request: Recorded, end: End, form?: LineForm): void {
    const { path, note, asker } = request.state;
    const { outcome, originTime, error } = note;
    const { status, bytes } = end;
    const ms = Math.round(performance.now() - end.start);
    const failure = error === undefined ? undefined : describeError(error);
    const kind = requestKind(path);
    const code = failure?.code;
    const counted = { kind, outcome, status, milliseconds: ms, bytes, code };
    this.#metrics.countRequest(counted);
    const { requestId, client } = asker;
    const originMs = Math.round(originTime);
    const own = { requestId, client, bytes, ms, originMs };
    if (failure === undefined)
      this.#repeated.write(form ?? this.formOf(request, end), own);
    else
      this.#logger.info(
        { ...own, ...describe(request, end), ...failure },
        message,
      );
  }

  /** The line of all requests that are answered alike and did not fail. */
  formOf(request: Recorded, end: Ending): LineForm {
    return this.#repeated.formOf(describe(request, end), message);
  }
}

/** What the lines of many requests have in common. */
function describe(
  { state, params = {} }: Recorded,
  { method, userAgent, status, complete }: Ending,
): object {
  const { outcome, leftOut, reported } = state.note;
  return {
    ...{ token: state.asker.token, method, path: state.path },
    ...subjectOf(params),
    userAgent: userAgent?.slice(0, longestUserAgent),
    ...{ status, outcome, complete, leftOut, reported },
  };
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
