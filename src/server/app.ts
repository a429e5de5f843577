import Router from "@koa/router";
import Koa, { type Context, type Next } from "koa";
import { NoSuchPage, ProvenderError } from "../errors.ts";
import type { Logger } from "../telemetry/logger.ts";
import { respondWithError, statusOf } from "./error-response.ts";
import type { NetworkMirrorFace, NetworkMirrorPath } from "./network-mirror.ts";
import { answerHealth, answerReadiness, type Readiness } from "./operations.ts";
import { findRequestProblem, pathOf } from "./raw-request.ts";
import { noteOf, startNote } from "./request-note.ts";

export interface AppParts {
  readonly providers: NetworkMirrorFace;
  readonly readiness: Readiness;
  readonly logger: Logger;
  /** Bytes. */
  readonly longestUrl: number;
}

/** Every URL of the contract, on Koa. */
export function makeApp(parts: AppParts): Koa {
  const app = new Koa();
  app.silent = true;
  app.use((ctx, next) => logged(ctx, next, parts.logger));
  app.use(answerErrors);
  app.use((ctx, next) => checkRequest(ctx, next, parts.longestUrl));
  app.use(makeRouter(parts).routes());
  app.use(() => {
    throw new NoSuchPage();
  });
  return app;
}

function makeRouter({ providers, readiness }: AppParts): Router {
  const router = new Router({ sensitive: true, strict: true });
  router.get("/healthz", answerHealth);
  router.get("/readyz", (ctx) => answerReadiness(ctx, readiness));
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

async function answerErrors(ctx: Context, next: Next): Promise<void> {
  try {
    await next();
  } catch (error) {
    const note = noteOf(ctx);
    note.outcome = statusOf(error) < 500 ? "refused" : "failed";
    note.error = error;
    if (ctx.res.headersSent) ctx.res.destroy();
    else respondWithError(ctx, error, note.requestId);
  }
}

/** One line a request, when its response ended or was cut. */
async function logged(ctx: Context, next: Next, logger: Logger): Promise<void> {
  const start = performance.now();
  const note = startNote(ctx.req);
  ctx.set("X-Request-Id", note.requestId);
  const before = ctx.req.socket.bytesWritten;
  ctx.res.once("close", () => {
    const { requestId, outcome, originTime, error } = note;
    logger.info(
      {
        requestId,
        client: ctx.req.socket.remoteAddress,
        method: ctx.method,
        path: pathOf(ctx.req.url ?? ""),
        status: ctx.res.statusCode,
        outcome,
        complete: ctx.res.writableFinished,
        bytes: ctx.req.socket.bytesWritten - before,
        ms: Math.round(performance.now() - start),
        originMs: Math.round(originTime),
        ...describeError(error),
      },
      "request",
    );
  });
  await next();
}

/** Our own errors speak for themselves; an unexpected one is logged with its stack. */
function describeError(error: unknown): object {
  if (error === undefined) return {};
  return error instanceof ProvenderError
    ? { code: error.code, error: error.message }
    : { err: error };
}
