import { createHash } from "node:crypto";
import type { Context } from "koa";
import type { Answer } from "../mirror/answer.ts";

/**
 * A JSON document with a strong ETag. The media type has no parameter: clients
 * warn about one. A stale answer says how old it is (RFC 9111, `Age`).
 */
export function sendDocument(
  ctx: Context,
  document: object,
  { outcome, age }: Answer<unknown>,
): void {
  const body = Buffer.from(JSON.stringify(document));
  const tag = `"${createHash("sha256").update(body).digest("base64url")}"`;
  ctx.set("ETag", tag);
  ctx.set("Cache-Control", "no-cache");
  if (outcome === "stale") ctx.set("Age", String(Math.floor(age / 1000)));
  ctx.status = 200;
  if (ctx.fresh) {
    ctx.status = 304;
    return;
  }
  ctx.body = body;
  ctx.res.setHeader("Content-Type", "application/json");
}
