import { createHash } from "node:crypto";
import type { Answer } from "../../mirror/cache/answer.ts";
import { isUnmodified } from "./conditional-request.ts";
import {
  setHeaders,
  type RenderedDocument,
  type RequestContext,
} from "./request-context.ts";

/** JSON, or its text. The media type has no parameter: clients warn about one. */
export function renderDocument(document: object | string): RenderedDocument {
  const text =
    typeof document === "string" ? document : JSON.stringify(document);
  return renderBytes("application/json", text);
}

export function renderBytes(
  type: string,
  bytes: string | Uint8Array,
): RenderedDocument {
  // Koa takes a plain Uint8Array for an object to render.
  const body = typeof bytes === "string" ? bytes : Buffer.from(bytes);
  const digest = createHash("sha256").update(body).digest("base64url");
  return { type, body, tag: `"${digest}"` };
}

/** `render` once for each value, which nobody changes; the document is kept as long as the value is. */
export function rendersOnce<V extends object, R extends readonly unknown[]>(
  render: (value: V, ...rest: R) => object | string,
): (value: V, ...rest: R) => RenderedDocument {
  const kept = new WeakMap<V, RenderedDocument>();
  return (value, ...rest) => {
    const known = kept.get(value);
    if (known !== undefined) return known;
    const rendered = renderDocument(render(value, ...rest));
    kept.set(value, rendered);
    return rendered;
  };
}

/** A stale answer says how old it is (RFC 9111, `Age`). */
export function sendDocument(
  ctx: RequestContext,
  document: RenderedDocument,
  answer: Answer<unknown>,
): void {
  const { type, body, tag } = document;
  const { outcome, age } = answer;
  ctx.state.sent = { document, answer };
  const isStale = outcome === "stale";
  setHeaders(ctx, {
    ETag: tag,
    "Cache-Control": "no-cache",
    Age: isStale ? `${Math.floor(age / 1000)}` : undefined,
  });
  if (isUnmodified(ctx.req, tag)) {
    ctx.status = 304;
    return;
  }
  ctx.status = 200;
  // Koa guesses a type only where none is set.
  ctx.set("Content-Type", type);
  ctx.body = body;
}
