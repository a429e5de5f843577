import type { RequestListener } from "node:http";
import { type Configuration } from "../config.ts";
import { makeApp, type AppParts } from "../server/app.ts";
import { FrontPage } from "../server/front-page.ts";
import { ModuleRegistryFace } from "../server/module-registry.ts";
import { NetworkMirrorFace } from "../server/network-mirror.ts";
import { ProviderRegistryFace } from "../server/provider-registry.ts";
import { Readiness } from "../server/operations.ts";
import type { Core } from "./core.ts";
import { wireServices } from "./services.ts";
import type { Watch } from "./watch.ts";

/** Providers that the page for people shows. */
const keptOnPage = 200;

/** Every URL that the daemon answers. */
export interface Faces {
  readonly app: RequestListener;
  readonly frontPage: FrontPage;
  readonly readiness: Readiness;
}

/** Who may ask, and how much. */
export type Access = Pick<
  AppParts,
  "authentication" | "clients" | "metadataCaps"
>;

export function wireFaces(
  configuration: Configuration,
  { blobs, providers, modules }: Core,
  access: Access,
  { logger, audit, metrics }: Watch,
): Faces {
  const { limits } = configuration;
  const { authentication } = access;
  const readiness = new Readiness(() => blobs.probe());
  const frontPage = new FrontPage(() => providers.listKept(keptOnPage));
  const app = makeApp({
    frontPage,
    ...access,
    providers: new NetworkMirrorFace(providers, authentication, audit, limits),
    registry: new ProviderRegistryFace(providers, authentication),
    modules: new ModuleRegistryFace(modules, authentication, audit, limits),
    readiness,
    services: wireServices(configuration),
    logger,
    audit,
    metrics,
    longestUrl: limits.url,
  });
  return { app, frontPage, readiness };
}
