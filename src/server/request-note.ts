import type { Context } from "koa";
import type { Outcome } from "../mirror/answer.ts";

/** What a handler notes for the request's line in the log. */
export interface RequestNote {
  readonly requestId: string;
  outcome: Outcome | "refused" | "failed" | "none";
  /** Why the request was not answered as asked. */
  error?: unknown;
  /** Milliseconds spent asking the origin. */
  originTime: number;
}

const notes = new WeakMap<object, RequestNote>();

export function startNote(req: object): RequestNote {
  const note: RequestNote = {
    requestId: crypto.randomUUID(),
    outcome: "none",
    originTime: 0,
  };
  notes.set(req, note);
  return note;
}

export function noteOf(ctx: Context): RequestNote {
  return notes.get(ctx.req) ?? startNote(ctx.req);
}
