import { ProvenderError } from "../../errors/index.ts";
import type { Logger } from "../../telemetry/logger.ts";
import type { Metrics } from "../../telemetry/metrics.ts";
import type { RequestContext } from "../http/request-context.ts";
import type { RequestKind } from "../../telemetry/definitions.ts";
import type { Subject } from "../protocols/public-address.ts";

/** Characters. */
const longestUserAgent = 200;

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
      // Our own errors need no stack; an unexpected one is logged with it.
      const failure =
        error instanceof ProvenderError
          ? { code: error.code, error: error.message }
          : { code: error === undefined ? undefined : "internal", err: error };
      const [kind, { code }] = [requestKind(path), failure];
      metrics.countRequest({ kind, outcome, status, ms, bytes, code });
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

const kinds: readonly (readonly [RegExp, RequestKind])[] = [
  [/^\/providers\/.*\/index\.json$/, "index"],
  [/^\/providers\/.*\.json$/, "version"],
  [/^\/providers\/.*\.zip$/, "archive"],
  [/^\/v1\/providers\/.*\/versions$/, "index"],
  [/^\/v1\/providers\//, "version"],
  [/^\/v1\/modules\//, "module"],
  [/^\/\.well-known\//, "discovery"],
  [/^\/(?:healthz|readyz|metrics)$/, "operation"],
  [/^\/(?:$|ca\.pem$|browse$|decisions$|why\/)/, "page"],
];

/** One of a few words for any path that a client sends, whether or not anything is there; the first that matches. */
export function requestKind(asked: string): RequestKind {
  const path = asked.replace(/^\/registry\/[^/]+(?=\/)/, "");
  return kinds.find(([pattern]) => pattern.test(path))?.[1] ?? "other";
}

/** The names in the path that was asked, as the table of URLs has them. */
export type PathNames = Readonly<Partial<Record<string, string>>>;

/** Returns the provider or module, and the document, that a path of any protocol names. */
export function subjectOf(
  names: PathNames,
): Subject & { readonly platform?: string | undefined } {
  const { hostname, namespace, name, system, type, version } = names;
  if (system !== undefined)
    return { module: `${hostname}/${namespace}/${name}/${system}`, version };
  if (type === undefined) return {};
  const provider = `${hostname}/${namespace}/${type}`;
  const { os, arch, archive = "" } = names;
  if (arch !== undefined)
    return { provider, version, platform: `${os}_${arch}` };
  const [, archived, platform] = /_([^_]+)_([^_]+_[^_]+)$/.exec(archive) ?? [];
  return archived === undefined
    ? { provider, version }
    : { provider, version: archived, platform };
}
