import Router from "@koa/router";
import type { Next } from "koa";
import { expect, it } from "vitest";
import { makeRouter, type RoutedParts } from "../../src/server/routes.ts";
import { answerFrom } from "../../src/server/table-of-urls.ts";

interface Asked {
  readonly method: string;
  readonly path: string;
  readonly req: { readonly url: string };
  readonly request: object;
  readonly params?: unknown;
  body?: string;
}

/** The rows of the real table, each of which answers with itself. */
function makeTable(): Router {
  const warm = { answering: () => () => undefined };
  const real = makeRouter({ warm } as unknown as RoutedParts);
  const table = new Router({ sensitive: true, strict: true });
  for (const row of real.stack.map(({ path }) => String(path)))
    table.get(row, (ctx) => {
      (ctx as unknown as Asked).body = row;
    });
  return table;
}

const table = makeTable();

/** Which row answers a path, with which names. */
async function ask(
  answer: (ctx: never, next: Next) => unknown,
  path: string,
): Promise<readonly unknown[]> {
  const req = { url: path };
  const asked: Asked = { method: "GET", path, req, request: {} };
  const unanswered = () => {
    asked.body = "none";
    return Promise.resolve();
  };
  await answer(asked as never, unanswered);
  const isFound = asked.body !== "none";
  return [asked.body, isFound ? { ...(asked.params as object) } : {}];
}

const named = table.stack.map(({ path }) =>
  String(path).replaceAll(/:\w+/g, (name) => `a.${name.slice(1)}-1_x`),
);
const paths = named.flatMap((path) => [
  path,
  ...[`${path}/`, `${path}x`, `${path}.json`, path.toUpperCase()],
  ...[path.slice(1), path.slice(0, -1), `/x${path}`, `/providers${path}`],
  ...[path.replace(/^\/[^/]*/, ""), path.replace(/^\/[^/]*/, "/v1")],
  ...[path.replace(/[^/]*$/, "index.json"), path.replace(/[^/]*$/, "2.0.json")],
  ...[path.replace(/[^/]*$/, "versions"), path.replace(/[^/]*$/, "a.zip")],
]);

it.each([...new Set(paths)])(
  "answers %s from the row that the router itself finds",
  async (path) => {
    expect(await ask(answerFrom(table as never) as never, path)).toEqual(
      await ask(table.routes() as never, path),
    );
  },
);

it("finds each row by a path of its own, without the URL's query", async () => {
  const rows = await Promise.all(
    named.map((path) =>
      ask(answerFrom(table as never) as never, `${path}?a=/`),
    ),
  );
  expect(rows.map(([row]) => row)).toEqual(
    table.stack.map(({ path }) => String(path)),
  );
});

it("wants one answer for each row", () => {
  const twice = new Router();
  twice.get("/", () => undefined);
  twice.get(
    "/twice",
    () => undefined,
    () => undefined,
  );
  expect(() => answerFrom(twice as never)).toThrow("/twice needs one answer");
});
