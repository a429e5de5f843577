import { createHash } from "node:crypto";
import type { Answer } from "../mirror/answer.ts";
import { isUnmodified } from "./conditional-request.ts";
import { writeHead, type Exchange } from "./request-note.ts";

/** A JSON document as it is sent, with its strong ETag. */
export interface RenderedDocument {
  readonly body: string;
  /** Bytes, in decimal. */
  readonly length: string;
  readonly tag: string;
}

export function renderDocument(document: object): RenderedDocument {
  const body = JSON.stringify(document);
  const digest = createHash("sha256").update(body).digest("base64url");
  return { body, length: String(Buffer.byteLength(body)), tag: `"${digest}"` };
}

/** `render` once for each value, which nobody changes; the document is kept as long as the value is. */
export function rendersOnce<V extends object>(
  render: (value: V) => object,
): (value: V) => RenderedDocument {
  const kept = new WeakMap<V, RenderedDocument>();
  return (value) => {
    const known = kept.get(value);
    if (known !== undefined) return known;
    const rendered = renderDocument(render(value));
    kept.set(value, rendered);
    return rendered;
  };
}

/**
 * The media type has no parameter: clients warn about one. A stale answer says
 * how old it is (RFC 9111, `Age`).
 */
export function sendDocument(
  exchange: Exchange,
  { body, length, tag }: RenderedDocument,
  { outcome, age }: Answer<unknown>,
): void {
  const headers = ["ETag", tag, "Cache-Control", "no-cache"];
  if (outcome === "stale") headers.push("Age", `${Math.floor(age / 1000)}`);
  if (isUnmodified(exchange.req, tag)) {
    writeHead(exchange, 304, headers);
    exchange.res.end();
    return;
  }
  headers.push("Content-Type", "application/json", "Content-Length", length);
  writeHead(exchange, 200, headers);
  // A text goes out in one write with the headers.
  exchange.res.end(body);
}
