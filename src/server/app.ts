import Router from "@koa/router";
import Koa, { type Context, type Next } from "koa";
import { NoSuchPage, ProvenderError } from "../errors.ts";
import { onBehalfOf } from "../telemetry/asker.ts";
import type { AuditLog } from "../telemetry/audit-log.ts";
import type { Logger } from "../telemetry/logger.ts";
import type { Metrics } from "../telemetry/metrics.ts";
import { respondWithError, statusOf } from "./error-response.ts";
import type { FrontPage } from "./front-page.ts";
import type { NetworkMirrorFace, NetworkMirrorPath } from "./network-mirror.ts";
import {
  answerHealth,
  answerMetrics,
  answerReadiness,
  type Readiness,
} from "./operations.ts";
import { findRequestProblem, pathOf } from "./raw-request.ts";
import { auditRefusal } from "./refusal-audit.ts";
import { noteOf, startNote } from "./request-note.ts";

export interface AppParts {
  readonly providers: NetworkMirrorFace;
  readonly frontPage: FrontPage;
  readonly readiness: Readiness;
  readonly logger: Logger;
  readonly audit: AuditLog;
  readonly metrics: Metrics;
  /** Bytes. */
  readonly longestUrl: number;
}

/** Every URL of the contract, on Koa. */
export function makeApp(parts: AppParts): Koa {
  const app = new Koa();
  app.silent = true;
  app.use((ctx, next) => logged(ctx, next, parts));
  app.use((ctx, next) => answerErrors(ctx, next, parts.audit));
  app.use((ctx, next) => checkRequest(ctx, next, parts.longestUrl));
  app.use(makeRouter(parts).routes());
  app.use(() => {
    throw new NoSuchPage();
  });
  return app;
}

function makeRouter({
  providers,
  frontPage,
  readiness,
  metrics,
}: AppParts): Router {
  const router = new Router({ sensitive: true, strict: true });
  router.get("/", (ctx) => frontPage.answer(ctx));
  router.get("/healthz", answerHealth);
  router.get("/readyz", (ctx) => answerReadiness(ctx, readiness));
  router.get("/metrics", (ctx) => answerMetrics(ctx, metrics));
  router.get("/providers/:hostname/:namespace/:type/:document", (ctx) =>
    providers.answer(ctx, ctx.params as unknown as NetworkMirrorPath),
  );
  return router;
}

async function checkRequest(
  ctx: Context,
  next: Next,
  longestUrl: number,
): Promise<void> {
  const problem: ProvenderError | undefined = findRequestProblem(
    ctx.req,
    longestUrl,
  );
  if (problem !== undefined) throw problem;
  await next();
}

async function answerErrors(
  ctx: Context,
  next: Next,
  audit: AuditLog,
): Promise<void> {
  try {
    await next();
  } catch (thrown) {
    const note = noteOf(ctx);
    const error = await audited(audit, ctx, thrown);
    note.outcome = statusOf(error) < 500 ? "refused" : "failed";
    note.error = error;
    if (ctx.res.headersSent) ctx.res.destroy();
    else respondWithError(ctx, error, note.requestId);
  }
}

/** A refusal is on disk before it is answered; when it cannot be, that is the answer. */
async function audited(
  audit: AuditLog,
  ctx: Context,
  error: unknown,
): Promise<unknown> {
  if (!(error instanceof ProvenderError) || statusOf(error) !== refusal)
    return error;
  try {
    await auditRefusal(audit, ctx, error);
    return error;
  } catch (unusable) {
    return unusable;
  }
}

const refusal = 451;

/** One line a request, when its response ended or was cut. */
async function logged(
  ctx: Context,
  next: Next,
  { logger, metrics }: AppParts,
): Promise<void> {
  const start = performance.now();
  const note = startNote(ctx.req);
  ctx.set("X-Request-Id", note.requestId);
  const before = ctx.req.socket.bytesWritten;
  const client = ctx.req.socket.remoteAddress ?? "gone";
  ctx.res.once("close", () => {
    const { requestId, outcome, originTime, error } = note;
    const ms = Math.round(performance.now() - start);
    const bytes = ctx.req.socket.bytesWritten - before;
    metrics.countRequest(outcome, ctx.res.statusCode, ms, bytes);
    logger.info(
      {
        requestId,
        client,
        method: ctx.method,
        path: pathOf(ctx.req.url ?? ""),
        status: ctx.res.statusCode,
        outcome,
        complete: ctx.res.writableFinished,
        bytes,
        ms,
        originMs: Math.round(originTime),
        ...describeError(error),
      },
      "request",
    );
  });
  await onBehalfOf({ requestId: note.requestId, client }, next);
}

/** Our own errors speak for themselves; an unexpected one is logged with its stack. */
function describeError(error: unknown): object {
  if (error === undefined) return {};
  return error instanceof ProvenderError
    ? { code: error.code, error: error.message }
    : { err: error };
}
