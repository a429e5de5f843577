import Router from "@koa/router";
import Koa from "koa";
import { NoSuchPage } from "../../errors/index.ts";
import type { Metrics } from "../../telemetry/metrics.ts";
import type { FrontPage } from "./front-page.ts";
import {
  answerHealth,
  answerMetrics,
  answerReadiness,
  type Readiness,
} from "./operations.ts";
import type { Exchange } from "../http/request-note.ts";
import {
  answerDiscovery,
  type Services,
} from "../protocols/service-discovery.ts";

export interface PageParts {
  readonly frontPage: FrontPage;
  readonly readiness: Readiness;
  readonly metrics: Metrics;
  /** What this host offers now; never rejects. */
  readonly findServices: () => Promise<Services>;
}

/** Answers or rejects, with NoSuchPage for an unknown path. */
export type Pages = (exchange: Exchange) => Promise<void>;

/** What people and operators ask for, on Koa. */
export function makePages(parts: PageParts): Pages {
  const failures = new WeakMap<object, { readonly error: unknown }>();
  const koa = new Koa();
  koa.silent = true;
  koa.use(async (ctx, next) => {
    try {
      await next();
    } catch (error) {
      // Left to the caller, who answers errors of all kinds alike.
      ctx.respond = false;
      failures.set(ctx.req, { error });
    }
  });
  koa.use(makeRouter(parts).routes());
  koa.use(() => {
    throw new NoSuchPage();
  });
  const handle = koa.callback();
  return async ({ req, res, note }) => {
    res.setHeader("X-Request-Id", note.requestId);
    await handle(req, res);
    const failure = failures.get(req);
    if (failure !== undefined) throw failure.error;
  };
}

function makeRouter(parts: PageParts): Router {
  const { frontPage, readiness, metrics, findServices } = parts;
  const router = new Router({ sensitive: true, strict: true });
  router.get("/", (ctx) => frontPage.answer(ctx));
  router.get("/healthz", answerHealth);
  router.get("/readyz", (ctx) => answerReadiness(ctx, readiness));
  router.get("/.well-known/terraform.json", (ctx) =>
    answerDiscovery(ctx, findServices),
  );
  router.get("/metrics", (ctx) => answerMetrics(ctx, metrics));
  return router;
}
