import type { Middleware, ParameterizedContext } from "koa";
import type { Answer, Outcome } from "../../mirror/cache/answer.ts";
import {
  countLeftOut,
  type LeftOut,
  type LeftOutCounts,
} from "../../mirror/trust/left-out.ts";
import type { Asker } from "../../telemetry/asker.ts";
import type { Client } from "./client-address.ts";

/** How a request ended that was not answered as asked. */
export type ErrorOutcome = "refused" | "not-found" | "malformed" | "failed";

/** What a handler notes for the request's line in the log. */
export interface RequestNote {
  outcome: Outcome | ErrorOutcome | "none";
  /** Why the request was not answered as asked. */
  error?: unknown;
  /** Versions that the answer does not have because of the rules or the keys. */
  leftOut?: LeftOutCounts | undefined;
  /** Versions of the answer that a policy which only reports would leave out. */
  reported?: LeftOutCounts | undefined;
  /** Milliseconds spent asking the origin. */
  originTime: number;
}

/** A document as it is sent, with its strong ETag. */
export interface RenderedDocument {
  readonly type: string;
  readonly body: string | Buffer;
  /** Bytes of the body. */
  readonly length: number;
  readonly tag: string;
}

/** What is known of a request from its first moment on. */
export interface RequestState {
  readonly client: Client;
  readonly asker: Asker;
  /** As it came, without its query and without the ticket of a signed URL, so that no log has what opens an archive. */
  readonly path: string;
  readonly note: RequestNote;
}

/** What the router adds to Koa's context. */
interface Routing {
  /** Names in the path, undecoded, once a row of the table matched. */
  readonly params?: Readonly<Record<string, string>>;
  /** The path that is looked up in the table instead of the URL's own, once a ticket in that was checked. */
  newRouterPath?: string;
}

export type RequestContext = ParameterizedContext<RequestState, Routing>;
/** Of a request that a row of the table matched. */
export type RoutedContext = RequestContext & {
  readonly params: Readonly<Record<string, string>>;
};
export type RequestMiddleware = Middleware<RequestState, Routing>;

/** How the mirror came by what is answered. */
export function noteAnswer(
  { note }: RequestState,
  { outcome, originTime }: Omit<Answer<unknown>, "value">,
): void {
  note.outcome = outcome;
  note.originTime += originTime;
}

/** What a list has not, or would not have, because of the rules or the keys. */
export function noteLeftOut(
  { note }: RequestState,
  {
    leftOut,
    reported,
  }: Readonly<Record<"leftOut" | "reported", readonly LeftOut[]>>,
): void {
  note.leftOut = countLeftOut(leftOut);
  note.reported = countLeftOut(reported);
}

/** Sets headers by name; one without a value is left out. */
export function setHeaders(
  ctx: RequestContext,
  headers: Readonly<Record<string, string | undefined>>,
): void {
  for (const [name, value] of Object.entries(headers))
    if (value !== undefined) ctx.set(name, value);
}
