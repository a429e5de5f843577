import type { Next } from "koa";
import { NoSuchPage, TokenNeeded } from "../errors/index.ts";
import { isPage, type Authentication } from "./access/authentication.ts";
import type { Departure } from "./access/sessions.ts";
import type {
  RequestContext,
  RequestMiddleware,
} from "./http/request-context.ts";
import type { PublicAddress } from "./protocols/public-address.ts";

interface LoginParts {
  readonly authentication: Authentication;
  readonly publicAddress: PublicAddress;
}

/** Asks who asks; a signed URL is answered as the archive's own, and people without a session are sent to log in. */
export function authenticate(parts: LoginParts): RequestMiddleware {
  return (ctx, next) =>
    parts.authentication.isOn ? admit(ctx, next, parts) : next();
}

async function admit(
  ctx: RequestContext,
  next: Next,
  parts: LoginParts,
): Promise<void> {
  const { req, state } = ctx;
  try {
    state.asker.token = await parts.authentication.admit(req);
  } catch (error) {
    if (error instanceof TokenNeeded && (await sendToLogin(ctx, parts))) return;
    throw error;
  }
  const isUnproven = req.headers.authorization === undefined;
  state.hasSession = isUnproven && state.asker.token !== undefined;
  ctx.newRouterPath = state.path;
  await next();
}

/** `/login`, where the OpenID provider sends browsers back to. Throws NoSuchPage, LoginRefused and the provider's failure. */
export async function answerLogin(
  ctx: RequestContext,
  { authentication, publicAddress }: LoginParts,
): Promise<void> {
  const { sessions } = authentication;
  const redirectUri = findRedirectUri(ctx, publicAddress);
  if (sessions === undefined || redirectUri === undefined)
    throw new NoSuchPage();
  const answer = new URLSearchParams(ctx.querystring);
  const { cookie } = ctx.req.headers;
  depart(ctx, await sessions.finish(redirectUri, answer, cookie));
}

/** `/logout`: ends the session of this browser, unless another site asks for it. */
export function answerLogout(
  ctx: RequestContext,
  { authentication }: LoginParts,
): void {
  const { sessions } = authentication;
  if (sessions === undefined) throw new NoSuchPage();
  const { location, cookies } = sessions.end();
  const isOwn = ctx.get("Sec-Fetch-Site") !== "cross-site";
  depart(ctx, { location, cookies: isOwn ? cookies : [] });
}

/** Sends people who may log in to the OpenID provider, for a page; false for programs, and where no cookie would last. */
async function sendToLogin(
  ctx: RequestContext,
  { authentication, publicAddress }: LoginParts,
): Promise<boolean> {
  const { sessions } = authentication;
  const isPerson =
    isPage(ctx.state.path) && /text\/html/i.test(ctx.get("Accept"));
  const redirectUri = findRedirectUri(ctx, publicAddress);
  if (!isPerson || sessions === undefined || redirectUri === undefined)
    return false;
  depart(ctx, await sessions.begin(redirectUri, ctx.req.url ?? "/"));
  return true;
}

/** Undefined without TLS: no browser keeps the cookies then. */
function findRedirectUri(
  { req }: RequestContext,
  publicAddress: PublicAddress,
): string | undefined {
  const base = publicAddress.baseOf(req);
  return base?.startsWith("https:") === true ? `${base}login` : undefined;
}

function depart(ctx: RequestContext, { location, cookies }: Departure): void {
  ctx.status = 303;
  ctx.set("Location", location);
  ctx.set("Cache-Control", "no-store");
  ctx.set("Referrer-Policy", "no-referrer");
  ctx.set("Set-Cookie", [...cookies]);
  ctx.body = "";
}
