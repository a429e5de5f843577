import type { Context } from "koa";

/**
 * Services that this host offers to clients (Remote Service Discovery): URLs,
 * or a service's own object.
 */
export type Services = Readonly<Record<string, unknown>>;

/** `/.well-known/terraform.json`; exactly application/json, because clients refuse anything else. */
export function answerDiscovery(ctx: Context, services: Services): void {
  ctx.status = 200;
  ctx.set("Cache-Control", "no-cache");
  ctx.body = JSON.stringify(services);
  ctx.res.setHeader("Content-Type", "application/json");
}
