import type Router from "@koa/router";
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
      ctx.params = paramsOf(row.names, match);
      return row.answer(ctx as never, next) as Promise<void> | undefined;
    }
    return next();
  };
}

function readRow({ path, regexp, paramNames, stack }: Row) {
  const names = paramNames.map(({ name }) => name);
  const [answer, ...others] = stack;
  if (answer === undefined || others.length > 0)
    throw new Error(`the row of ${String(path)} needs one answer`);
  return { word: firstWord(String(path)), regexp, names, answer };
}

function paramsOf(names: readonly string[], match: RegExpExecArray) {
  const params: Record<string, string> = {};
  let at = 1;
  for (const name of names) params[name] = match[at++] ?? "";
  return params;
}

function firstWord(path: string): string {
  const end = path.indexOf("/", 1);
  return end < 0 ? path : path.slice(0, end);
}
