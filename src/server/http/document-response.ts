import { createHash } from "node:crypto";
import type { Answer } from "../../mirror/cache/metadata-cache.ts";
import { noteAnswer, type RequestContext } from "./request-context.ts";

/** A document as it is sent, with its strong ETag. */
interface RenderedDocument {
  readonly type: string;
  readonly body: string | Buffer;
  /** Bytes of the body. */
  readonly length: number;
  readonly tag: string;
}

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
  const body = typeof bytes === "string" ? bytes : Buffer.from(bytes);
  const length = Buffer.byteLength(body);
  const digest = createHash("sha256").update(body).digest("base64url");
  return { type, body, length, tag: `"${digest}"` };
}

/** Calls `render` once for each value, which never changes; the document is kept as long as the value is. */
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

/** Sends a document, and notes how its answer came about. A stale one states its age (RFC 9111, `Age`). */
export function sendDocument(
  ctx: RequestContext,
  document: RenderedDocument,
  answer: Answer<unknown>,
): void {
  const { type, body, length, tag } = document;
  const { outcome, age } = answer;
  const { req, res } = ctx;
  noteAnswer(ctx.state, answer);
  // Koa would measure the body again and look for what its type could be.
  ctx.respond = false;
  res.setHeader("ETag", tag);
  res.setHeader("Cache-Control", "no-cache");
  if (outcome === "stale") res.setHeader("Age", `${Math.floor(age / 1000)}`);
  res.statusCode = 200;
  if (req.headers["if-none-match"] !== undefined && ctx.fresh) {
    res.statusCode = 304;
    res.end();
    return;
  }
  res.setHeader("Content-Type", type);
  res.setHeader("Content-Length", length);
  res.end(body);
}
