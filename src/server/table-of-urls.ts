import type Router from "@koa/router";
import type { Next } from "koa";
import { pathOf } from "./http/raw-request.ts";
import type {
  RequestMiddleware,
  RequestState,
} from "./http/request-context.ts";

/**
 * Answers from the first row of the table that matches GET of the path. Of more
 * than two dozen rows, those alone are tried that begin with the path's first
 * word: no row begins with a name that a client chooses.
 */
export function answerFrom({ stack }: Router<RequestState>): RequestMiddleware {
  const rows = Map.groupBy(stack, ({ path }) => firstWord(String(path)));
  return (ctx, next) => {
    const path = ctx.unsignedPath ?? pathOf(ctx.req.url ?? "");
    for (const row of rows.get(firstWord(path)) ?? []) {
      const match = row.regexp.exec(path);
      if (match === null) continue;
      ctx.params = row.params(path, match.slice(1));
      return row.stack.reduceRight<Next>(
        (rest, answer) => () => answer(ctx as never, rest) as Promise<void>,
        next,
      )();
    }
    return next();
  };
}

function firstWord(path: string): string {
  const end = path.indexOf("/", 1);
  return end < 0 ? path : path.slice(0, end);
}
