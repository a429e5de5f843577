import type { Context, Middleware, ParameterizedContext } from "koa";
import type { Answer, Outcome } from "../../mirror/cache/metadata-cache.ts";
import {
  countLeftOut,
  type LeftOut,
  type LeftOutCounts,
} from "../../mirror/trust/left-out.ts";
import type { Asker } from "../../telemetry/asker.ts";

export type ErrorOutcome = "refused" | "not-found" | "malformed" | "failed";

/** Facts that a handler notes for the request's line in the log. */
interface RequestNote {
  outcome: Outcome | ErrorOutcome | "none";
  error?: unknown;
  /** Versions that the answer does not have because of the rules or the keys. */
  leftOut?: LeftOutCounts | undefined;
  /** Versions of the answer that a policy which only reports would leave out. */
  reported?: LeftOutCounts | undefined;
  /** Milliseconds spent asking the origin. */
  originTime: number;
}

export interface RequestState {
  readonly asker: Asker;
  /** Path as it came, without its query and the ticket of a signed URL. So no log contains what opens an archive. */
  readonly path: string;
  readonly note: RequestNote;
}

interface Routing {
  /** Names in the path, undecoded, once a row of the table matched. */
  readonly params?: Readonly<Record<string, string>>;
  /** The path that is looked up in the table instead of the URL's own: without its ticket. */
  newRouterPath?: string;
}

export type RequestContext = ParameterizedContext<RequestState, Routing>;
export type RoutedContext = RequestContext & {
  readonly params: Readonly<Record<string, string>>;
};
export type RequestMiddleware = Middleware<RequestState, Routing>;

/** The URL without its query, as it came. */
export function pathOf(url: string): string {
  const query = url.indexOf("?");
  return query < 0 ? url : url.slice(0, query);
}

export function noteAnswer(
  { note }: RequestState,
  { outcome, originTime }: Omit<Answer<unknown>, "value">,
): void {
  note.outcome = outcome;
  note.originTime += originTime;
}

/** Notes versions that rules or keys remove from a list, or would remove. */
export function noteLeftOut(
  { note }: RequestState,
  {
    leftOut,
    reported,
  }: Readonly<Record<"leftOut" | "reported", readonly LeftOut[]>>,
): void {
  if (leftOut.length > 0) note.leftOut = countLeftOut(leftOut);
  if (reported.length > 0) note.reported = countLeftOut(reported);
}

/** Exactly application/json, because clients refuse anything else. */
export function answerJson(
  ctx: Context,
  document: object,
  cacheControl = "no-store",
): void {
  ctx.status = 200;
  ctx.set("Cache-Control", cacheControl);
  ctx.body = JSON.stringify(document);
  ctx.res.setHeader("Content-Type", "application/json");
}

export function setHeaders(
  ctx: RequestContext,
  headers: Readonly<Record<string, string | undefined>>,
): void {
  for (const [name, value] of Object.entries(headers))
    if (value !== undefined) ctx.set(name, value);
}
