import type { IncomingMessage, ServerResponse } from "node:http";
import type { Client } from "./client-address.ts";
import type { Answer, Outcome } from "../../mirror/cache/answer.ts";

/** What a handler notes for the request's line in the log. */
export interface RequestNote {
  readonly requestId: string;
  outcome: Outcome | "refused" | "failed" | "none";
  /** Name of the token that was checked. */
  token?: string | undefined;
  /** Why the request was not answered as asked. */
  error?: unknown;
  /** Milliseconds spent asking the origin. */
  originTime: number;
}

/** A request on its way to its answer. */
export interface Exchange {
  readonly client: Client;
  readonly req: IncomingMessage;
  readonly res: ServerResponse;
  readonly note: RequestNote;
}

export function openExchange(
  req: IncomingMessage,
  res: ServerResponse,
  client: Client,
): Exchange {
  const requestId = crypto.randomUUID();
  return {
    client,
    req,
    res,
    note: { requestId, outcome: "none", originTime: 0 },
  };
}

/** How the mirror came by what is answered. */
export function noteAnswer(
  { note }: Exchange,
  { outcome, originTime }: Omit<Answer<unknown>, "value">,
): void {
  note.outcome = outcome;
  note.originTime += originTime;
}

/** Starts the response with the request's id and `headers` (name, value, …); a list, because Node sends it as it is. */
export function writeHead(
  { res, note }: Exchange,
  status: number,
  headers: readonly string[],
): void {
  res.writeHead(status, ["X-Request-Id", note.requestId, ...headers]);
}
