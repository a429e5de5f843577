import Router from "@koa/router";
import Koa from "koa";
import { type Hostname, parseHostname } from "../address/hostname.ts";
import { failure, isFailure, ProvenderError } from "../errors/index.ts";
import type { Why, WhyQuestion } from "../mirror/why/why.ts";
import { askers } from "../telemetry/asker.ts";
import type { Metrics } from "../telemetry/metrics.ts";
import { parseSignedPath } from "./access/archive-ticket.ts";
import type { Authentication } from "./access/authentication.ts";
import type { ClientAddresses } from "./http/client-address.ts";
import {
  errorOutcome,
  respondWithError,
  statusOf,
} from "./http/error-response.ts";
import type { Handle, OnUnexpected } from "./http/listener.ts";
import {
  answerJson,
  pathOf,
  type RequestContext,
  type RequestMiddleware,
  type RequestState,
  type RoutedContext,
} from "./http/request-context.ts";
import type { ModuleRegistry } from "./protocols/module-registry.ts";
import type { NetworkMirror } from "./protocols/network-mirror.ts";
import type { ProviderRegistry } from "./protocols/provider-registry.ts";
import type { PublicAddress } from "./protocols/public-address.ts";
import type { RecordRefusal } from "./requests/refusal-audit.ts";
import { subjectOf } from "./requests/request-log.ts";
import { answerDecisions } from "./web/decisions-page.ts";
import { answerMetrics, type Readiness } from "./web/operations.ts";
import type { SetUpPage } from "./web/set-up-page.ts";
import { answerWhy } from "./web/why-page.ts";

/** Services that this host offers to clients (Remote Service Discovery): URLs, or a service's own object. */
export type Services = Readonly<Record<string, unknown>>;

export interface AppParts {
  /** Its line in the log and its count are due from there on, however the request ends. */
  readonly recordWhenClosed: (ctx: RequestContext) => void;
  readonly recordRefusal: RecordRefusal;
  readonly clients: ClientAddresses;
  /** Hears of what was answered with 500, or not at all. */
  readonly onUnexpected: OnUnexpected;
  readonly providers: NetworkMirror;
  readonly registry: ProviderRegistry;
  readonly modules: ModuleRegistry;
  readonly authentication: Authentication;
  readonly publicAddress: PublicAddress;
  readonly setUp: SetUpPage;
  readonly browse: (ctx: RequestContext) => Promise<void>;
  readonly findPending: Parameters<typeof answerDecisions>[1];
  readonly explain: (question: WhyQuestion) => Promise<Why>;
  readonly readiness: Readiness;
  readonly metrics: Metrics;
  /** The origin whose services this host offers as its own. */
  readonly ownOrigin: Hostname | undefined;
  /** Adds that of a login, where there is one; never rejects. */
  readonly addLogin: (services: Services) => Promise<Services>;
}

/**
 * The one HTTP application. Every request passes from the top down:
 *
 * 1. It gets its id and its client, which everything below names. Its line in the log and its count are due from here
 *    on, however it ends, and work done for it, also after its answer, knows its client.
 * 2. Errors from below become answers, and refusals are written down.
 * 3. Its raw URL, method and framing are checked before anything reads them:
 *    a decoded or normalized URL could name another thing than the one checked.
 * 4. Its client is authenticated before anything that costs or reveals data.
 * 5. What is asked for as from a network mirror, and is no place of it, is refused
 *    with the right URL.
 * 6. The table of URLs answers it.
 */
export function makeApp(parts: AppParts): Handle {
  const { onUnexpected, publicAddress } = parts;
  const koa = new Koa<RequestState>();
  koa.on("error", (error: Error & { readonly headerSent?: boolean }) => {
    // A client that leaves in the middle is no failure of ours.
    if (error.headerSent !== true) onUnexpected(error, "request");
  });
  koa
    .use(begin(parts))
    .use(answerErrors(parts))
    .use(refuseMalformed)
    .use(authenticate(parts.authentication))
    .use(refuseWrongMirrorUrl(publicAddress))
    .use(makeRouter(parts).routes())
    .use(() => {
      throw failure("no-such-page");
    });
  return koa.callback();
}

/** Nothing of the request has been checked yet. */
function begin({ clients, recordWhenClosed }: AppParts): RequestMiddleware {
  return (ctx, next) => {
    const { req, res } = ctx;
    // Koa begins with 404, which the log would show for clients that leave
    // early.
    res.statusCode = 200;
    const path = pathOf(req.url ?? "");
    const { address: client } = clients.of(req);
    const asker = { requestId: crypto.randomUUID(), client };
    ctx.newRouterPath = parseSignedPath(path)?.path ?? path;
    ctx.state = {
      asker,
      path: ctx.newRouterPath,
      note: { outcome: "none", originTime: 0 },
    };
    res.setHeader("X-Request-Id", asker.requestId);
    recordWhenClosed(ctx);
    return askers.run(asker, next);
  };
}

/** Bytes. */
const longestUrl = 2_048;

/**
 * Refuses a malformed request before any route sees it. The URL is checked
 * as it came: a decoded one could name another thing than the one checked.
 */
const refuseMalformed: RequestMiddleware = ({ req }, next) => {
  const { method = "", url = "", headers, rawHeaders } = req;
  if (Buffer.byteLength(url) > longestUrl)
    throw failure("uri-too-long", longestUrl);
  if (method !== "GET" && method !== "HEAD")
    throw failure("method-not-allowed", method);
  const refuse = (problem: string, expected: string) =>
    failure("malformed-request", problem, expected);
  const length = headers["content-length"] ?? "0";
  if (headers["transfer-encoding"] !== undefined || length !== "0")
    throw refuse(`of ${method} carries a body`, "none");
  if (headers.expect !== undefined)
    throw refuse("has an Expect header", "none");
  let hosts = 0;
  for (let at = 0; at < rawHeaders.length; at += 2)
    if (rawHeaders[at]?.toLowerCase() === "host") hosts++;
  // HTTP/1.0 needs none (RFC 9112, 3.2), and probes of load balancers send none.
  if (hosts > 1 || (hosts === 0 && req.httpVersion !== "1.0"))
    throw refuse("has no or several Host headers", "one");
  const path = pathOf(url);
  if (!path.startsWith("/")) throw refuse("names another server", "a path");
  if (!/^[\x21-\x7e]+$/.test(path) || /[%\\#]/.test(path))
    throw refuse("has an escaped path", "no %, # or backslash");
  if (hollowSegment.test(path) && path !== "/")
    throw refuse("has an empty or dotted segment", "names");
  return next();
};

const hollowSegment = /\/\.{0,2}(?:\/|$)/;

function authenticate(authentication: Authentication): RequestMiddleware {
  return async ({ req, state }, next) => {
    if (authentication.isOn)
      state.asker.token = await authentication.admit(req);
    await next();
  };
}

/** How paths of the network mirror protocol end, and the whole of ours. */
const mirrorEnd =
  /\/(?:index\.json|\d[^/]*\.json|terraform-provider-[^/]*\.zip)$/;
const mirrorPath = /^\/providers(?:\/[^/]+){4}$/;

/** A client whose `url` has another path takes 404 for a provider that is not mirrored, and installs past the mirror. */
function refuseWrongMirrorUrl(publicAddress: PublicAddress): RequestMiddleware {
  return ({ req, state }, next) => {
    const isMeant = mirrorEnd.test(state.path) && !mirrorPath.test(state.path);
    if (isMeant)
      throw failure("wrong-mirror-url", publicAddress.mirrorUrl(req));
    return next();
  };
}

/**
 * Answers errors of the handlers below. `onUnexpected` hears of errors outside
 * the table, unless the client has left.
 */
function answerErrors({
  recordRefusal,
  publicAddress,
  onUnexpected,
}: AppParts): RequestMiddleware {
  return async (ctx, next) => {
    try {
      await next();
    } catch (error) {
      const { note, asker } = ctx.state;
      const status = statusOf(error);
      if (error instanceof ProvenderError && status === 451)
        recordRefusal(ctx.params ?? {}, error, asker);
      note.outcome = errorOutcome(error);
      note.error = error;
      if (status === 500 && !ctx.res.destroyed) onUnexpected(error, "request");
      const subject = subjectOf(ctx.params ?? {});
      const page = isFailure(error, "wrong-mirror-url")
        ? error.base
        : publicAddress.whyUrl(ctx.req, subject);
      respondWithError(ctx, error, page);
    }
  };
}

const mirrored = "/providers/:hostname/:namespace/:type";
/** Rows of a registry protocol: of any origin, and below a path of each for programs that take one URL. */
const registryRows = (room: "providers" | "modules") => (rest: string) => [
  `/v1/${room}/:hostname/${rest}`,
  `/registry/:hostname/v1/${room}/${rest}`,
];
const published = registryRows("providers");
/** Modules also under this host's name alone, for programs that ask no discovery. */
const modular = (rest: string) => [
  ...registryRows("modules")(rest),
  `/v1/modules/${rest}`,
];
const provider = ":namespace/:type";
const module = ":namespace/:name/:system";
/** Paths of providers and, with four parts and a version, of modules. */
const explained = [
  "/why/:hostname/:namespace/:type",
  "/why/:hostname/:namespace/:type/:version",
  "/why/:hostname/:namespace/:name/:system/:version",
];

/** Every URL of docs/http.md; of two rows that match, the first answers. GET stands for HEAD, too. */
export function makeRouter(parts: AppParts): Router<RequestState> {
  const { providers, registry, modules } = parts;
  const { setUp, browse, readiness, metrics } = parts;
  const router = new Router<RequestState>({ sensitive: true, strict: true });

  router.get(`${mirrored}/index.json`, (ctx) => providers.index(ctx));
  router.get(`${mirrored}/:version.json`, (ctx) => providers.version(ctx));
  router.get(`${mirrored}/:archive.zip`, (ctx) => providers.archive(ctx));

  router.get(published(`${provider}/versions`), (ctx) =>
    registry.versions(ctx),
  );
  router.get(published(`${provider}/:version/download/:os/:arch`), (ctx) =>
    registry.package(ctx),
  );
  router.get(published(`${provider}/:version/:proof`), (ctx) =>
    registry.proof(ctx),
  );
  router.get(published(`${provider}/:version`), (ctx) => registry.version(ctx));

  router.param("system", (_, ctx, next) => {
    ctx.params = { hostname: parts.ownOrigin ?? "", ...ctx.params };
    return next();
  });
  router.get(modular(`${module}/versions`), (ctx) => modules.versions(ctx));
  router.get(modular(`${module}/:version/download`), (ctx) =>
    modules.location(ctx),
  );
  router.get(modular(`${module}/:version/archive.:format`), (ctx) =>
    modules.archive(ctx),
  );
  router.get(modular(`${module}/:version`), (ctx) => modules.version(ctx));

  const servicesBelow = (
    { req, state }: RoutedContext,
    v1: string,
    of = "",
  ) => {
    const root = parts.publicAddress.rootFor(req, state.path);
    return {
      "providers.v1": `${root}${v1}/providers/${of}`,
      "modules.v1": `${root}${v1}/modules/${of}`,
    };
  };
  router.get("/.well-known/terraform.json", async (ctx) => {
    const { ownOrigin: own } = parts;
    const services = own ? servicesBelow(ctx, "v1", `${own}/`) : {};
    answerJson(ctx, await parts.addLogin(services), "no-cache");
  });
  router.get("/registry/:hostname/.well-known/terraform.json", (ctx) => {
    const hostname = parseHostname(ctx.params.hostname ?? "");
    const services = servicesBelow(ctx, `registry/${hostname}/v1`);
    answerJson(ctx, services, "no-cache");
  });
  router.get("/", (ctx) => setUp.answer(ctx));
  router.get("/ca.pem", (ctx) => setUp.authority(ctx));
  router.get("/browse", (ctx) => browse(ctx));
  router.get("/decisions", (ctx) => answerDecisions(ctx, parts.findPending));
  router.get(explained, (ctx) => answerWhy(ctx, parts.explain));
  const answerStatus = (ctx: RoutedContext, status: string) =>
    answerJson(ctx, { status, degraded: readiness.findProblem() });
  router.get("/healthz", (ctx) => answerStatus(ctx, "ok"));
  router.get("/readyz", async (ctx) => {
    await readiness.check();
    answerStatus(ctx, "ready");
  });
  router.get("/metrics", (ctx) => answerMetrics(ctx, metrics));
  return router;
}
