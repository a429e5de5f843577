import type Router from "@koa/router";
import type { Next } from "koa";
import { pathOf } from "./http/raw-request.ts";
import type {
  RequestMiddleware,
  RequestState,
} from "./http/request-context.ts";

type Row = Router<RequestState>["stack"][number];

/**
 * Answers from the first row of the table that matches GET of the path. Of more
 * than two dozen rows, those alone are tried that begin with the path's first
 * word: no row begins with a name that a client chooses.
 */
export function answerFrom({ stack }: Router<RequestState>): RequestMiddleware {
  const rows = Map.groupBy(stack.map(readRow), ({ word }) => word);
  return (ctx, next) => {
    const path = ctx.unsignedPath ?? pathOf(ctx.req.url ?? "");
    for (const row of rows.get(firstWord(path)) ?? []) {
      const match = row.regexp.exec(path);
      if (match === null) continue;
      const params: Record<string, string> = {};
      for (const [at, name] of row.names.entries())
        params[name] = match[at + 1] ?? "";
      ctx.params = params;
      return row.stack.reduceRight<Next>(
        (rest, answer) => () => answer(ctx as never, rest) as Promise<void>,
        next,
      )();
    }
    return next();
  };
}

function readRow({ path, regexp, paramNames, stack }: Row) {
  const names = paramNames.map(({ name }) => name);
  return { word: firstWord(String(path)), regexp, names, stack };
}

function firstWord(path: string): string {
  const end = path.indexOf("/", 1);
  return end < 0 ? path : path.slice(0, end);
}
