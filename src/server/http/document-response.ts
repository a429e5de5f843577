import { createHash } from "node:crypto";
import type { Answer } from "../../mirror/cache/answer.ts";
import { isUnmodified } from "./conditional-request.ts";
import { writeHead, type Exchange } from "./request-note.ts";

/** A document as it is sent, with its strong ETag. */
export interface RenderedDocument {
  readonly type: string;
  readonly body: string | Uint8Array;
  /** Bytes, in decimal. */
  readonly length: string;
  readonly tag: string;
}

/** JSON. The media type has no parameter: clients warn about one. */
export function renderDocument(document: object): RenderedDocument {
  return renderBytes("application/json", JSON.stringify(document));
}

export function renderBytes(
  type: string,
  body: string | Uint8Array,
): RenderedDocument {
  const digest = createHash("sha256").update(body).digest("base64url");
  const length = String(Buffer.byteLength(body));
  return { type, body, length, tag: `"${digest}"` };
}

/** `render` once for each value, which nobody changes; the document is kept as long as the value is. */
export function rendersOnce<V extends object, R extends readonly unknown[]>(
  render: (value: V, ...rest: R) => object,
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
  exchange: Exchange,
  { type, body, length, tag }: RenderedDocument,
  { outcome, age }: Answer<unknown>,
): void {
  const headers = ["ETag", tag, "Cache-Control", "no-cache"];
  if (outcome === "stale") headers.push("Age", `${Math.floor(age / 1000)}`);
  if (isUnmodified(exchange.req, tag)) {
    writeHead(exchange, 304, headers);
    exchange.res.end();
    return;
  }
  headers.push("Content-Type", type, "Content-Length", length);
  writeHead(exchange, 200, headers);
  // A text goes out in one write with the headers.
  exchange.res.end(body);
}
