import type { IncomingMessage } from "node:http";
import Koa from "koa";
import { failure } from "../errors/index.ts";
import { onBehalfOf } from "../telemetry/asker.ts";
import { parseSignedPath } from "./access/archive-ticket.ts";
import type { Authentication } from "./access/authentication.ts";
import { answerErrors } from "./answer-errors.ts";
import type { Client, ClientAddresses } from "./http/client-address.ts";
import type { OnUnexpected } from "./http/guarded.ts";
import type { Handle } from "./http/listener.ts";
import { pathOf, refuseMalformed } from "./http/raw-request.ts";
import type {
  RequestMiddleware,
  RequestState,
} from "./http/request-context.ts";
import type { PublicAddress } from "./protocols/public-address.ts";
import type { RefusalAudit } from "./requests/refusal-audit.ts";
import type { RequestLog } from "./requests/request-log.ts";
import { makeRouter, type RoutedParts } from "./routes.ts";

export interface AppParts extends RoutedParts {
  readonly requestLog: RequestLog;
  readonly refusals: RefusalAudit;
  readonly clients: ClientAddresses;
  /** Hears of what was answered with 500, or not at all. */
  readonly onUnexpected: OnUnexpected;
}

/**
 * The one HTTP application. Every request passes from the top down:
 *
 * 1. It gets its id and its client, which everything below names.
 * 2. Its line in the log and its count are due from here on, however it ends.
 * 3. Work done for it, also after its answer, knows its client.
 * 4. Errors from below become answers, and refusals are on disk first.
 * 5. Its raw URL, method and framing are checked before anything reads them:
 *    a decoded or normalized URL could name another thing than the one checked.
 * 6. Its client is authenticated before anything that costs or reveals data.
 * 7. What is asked for as from a network mirror, and is no place of it, is refused
 *    with the right URL.
 * 8. The table of URLs answers it.
 */
export function makeApp(parts: AppParts): Handle {
  const { requestLog, refusals } = parts;
  const { onUnexpected, publicAddress } = parts;
  const koa = new Koa<RequestState>();
  koa.on("error", (error: Error & { readonly headerSent?: boolean }) => {
    // A client that leaves in the middle is no failure of ours.
    if (error.headerSent !== true) onUnexpected(error, "request");
  });
  koa
    .use(identify(parts.clients))
    .use(record(requestLog))
    .use(attribute)
    .use(answerErrors(refusals, publicAddress, onUnexpected))
    .use(refuseMalformed)
    .use(authenticate(parts.authentication))
    .use(refuseWrongMirrorUrl(publicAddress))
    .use(makeRouter(parts).routes())
    .use(refuseUnknown);
  return koa.callback();
}

function identify(clients: ClientAddresses): RequestMiddleware {
  return (ctx, next) => {
    // Koa begins with 404, which the log would show for clients that leave
    // early.
    ctx.res.statusCode = 200;
    ctx.state = beginRequest(ctx.req, clients.of(ctx.req));
    ctx.set("X-Request-Id", ctx.state.asker.requestId);
    return next();
  };
}

/** Gives the request its id; nothing of it has been checked yet. */
function beginRequest(
  { url = "" }: IncomingMessage,
  client: Client,
): RequestState {
  const path = pathOf(url);
  return {
    client,
    asker: { requestId: crypto.randomUUID(), client: client.address },
    path: parseSignedPath(path)?.path ?? path,
    note: { outcome: "none", originTime: 0 },
  };
}

function record(requestLog: RequestLog): RequestMiddleware {
  return (ctx, next) => {
    requestLog.recordWhenClosed(ctx);
    return next();
  };
}

const attribute: RequestMiddleware = ({ state }, next) =>
  onBehalfOf(state.asker, next);

/**
 * Authenticates the client. A signed URL is answered under the archive's own
 * path.
 */
function authenticate(authentication: Authentication): RequestMiddleware {
  return async (ctx, next) => {
    if (authentication.isOn) {
      ctx.state.asker.token = await authentication.admit(ctx.req);
      ctx.newRouterPath = ctx.state.path;
    }
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

const refuseUnknown: RequestMiddleware = () => {
  throw failure("no-such-page");
};
