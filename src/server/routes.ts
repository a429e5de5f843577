import Router from "@koa/router";
import { parseHostname, type Hostname } from "../address/hostname.ts";
import { failure } from "../errors/index.ts";
import type { Metrics } from "../telemetry/metrics.ts";
import type { Authentication } from "./access/authentication.ts";
import type { PublicAddress } from "./protocols/public-address.ts";
import type { RequestState, RoutedContext } from "./http/request-context.ts";
import type { ModuleRegistryProtocol } from "./protocols/module-registry.ts";
import type { NetworkMirrorProtocol } from "./protocols/network-mirror.ts";
import type { ProviderRegistryProtocol } from "./protocols/provider-registry.ts";
import {
  answerDiscovery,
  type Services,
} from "./protocols/service-discovery.ts";
import { answerWhy } from "./web/why-page.ts";
import type { Explanations } from "../mirror/why/explanations.ts";
import { answerAlarms, type AlarmParts } from "./web/alarms-page.ts";
import type { BrowsePage } from "./web/browse-page.ts";
import type { SetUpPage } from "./web/set-up-page.ts";
import {
  answerHealth,
  answerMetrics,
  answerReadiness,
  type Readiness,
} from "./web/operations.ts";

interface Pages extends AlarmParts {
  readonly browse: BrowsePage;
}

export interface RoutedParts {
  readonly providers: NetworkMirrorProtocol;
  readonly registry: ProviderRegistryProtocol;
  readonly modules: ModuleRegistryProtocol;
  readonly authentication: Authentication;
  readonly publicAddress: PublicAddress;
  readonly setUp: SetUpPage;
  readonly pages: Pages;
  readonly explanations: Explanations;
  readonly readiness: Readiness;
  readonly metrics: Metrics;
  /** Services that this host offers now below the URL `root`; never rejects. */
  readonly findServices: (root: string) => Promise<Services>;
  /** The origin whose services those are. */
  readonly ownOrigin: Hostname | undefined;
  /** The same of one origin, as a registry of its own. */
  readonly findRegistryServices: (hostname: Hostname, root: string) => Services;
}

const mirrored = "/providers/:hostname/:namespace/:type";
/** Rows of a registry protocol: of any origin, and below a path of each for programs that take one URL. */
const registryRows = (room: "providers" | "modules") => (rest: string) => [
  `/v1/${room}/:hostname/${rest}`,
  `/registry/:hostname/v1/${room}/${rest}`,
];
const published = registryRows("providers");
/** Modules also under this host's name alone, for programs that ask no discovery. */
const modular = (rest: string) => [
  ...registryRows("modules")(rest),
  `/v1/modules/${rest}`,
];
const provider = ":namespace/:type";
const module = ":namespace/:name/:system";
/** Paths of providers and, with four parts and a version, of modules. */
const explained = [
  "/why/:hostname/:namespace/:type",
  "/why/:hostname/:namespace/:type/:version",
  "/why/:hostname/:namespace/:name/:system/:version",
];

/** Every URL of docs/http.md; of two rows that match, the first answers. GET stands for HEAD, too. */
export function makeRouter(parts: RoutedParts): Router<RequestState> {
  const { providers, registry, modules } = parts;
  const { setUp, pages, readiness, metrics } = parts;
  const router = new Router<RequestState>({ sensitive: true, strict: true });

  router.get(`${mirrored}/index.json`, (ctx) => providers.index(ctx));
  router.get(`${mirrored}/:version.json`, (ctx) => providers.version(ctx));
  router.get(`${mirrored}/:archive.zip`, (ctx) => providers.archive(ctx));
  router.get(`${mirrored}/:document`, refuseDocument);

  router.get(published(`${provider}/versions`), (ctx) =>
    registry.versions(ctx),
  );
  router.get(published(`${provider}/:version/download/:os/:arch`), (ctx) =>
    registry.package(ctx),
  );
  router.get(published(`${provider}/:version/:proof`), (ctx) =>
    registry.proof(ctx),
  );
  router.get(published(`${provider}/:version`), (ctx) => registry.version(ctx));

  router.param("system", (_, ctx, next) => {
    ctx.params = { hostname: parts.ownOrigin ?? "", ...ctx.params };
    return next();
  });
  router.get(modular(`${module}/versions`), (ctx) => modules.versions(ctx));
  router.get(modular(`${module}/:version/download`), (ctx) =>
    modules.location(ctx),
  );
  router.get(modular(`${module}/:version/archive.:format`), (ctx) =>
    modules.archive(ctx),
  );
  router.get(modular(`${module}/:version`), (ctx) => modules.version(ctx));

  const rootFor = ({ req, state }: RoutedContext) =>
    parts.publicAddress.rootFor(req, state.path);
  router.get("/.well-known/terraform.json", async (ctx) =>
    answerDiscovery(ctx, await parts.findServices(rootFor(ctx))),
  );
  router.get("/registry/:hostname/.well-known/terraform.json", (ctx) => {
    const hostname = parseHostname(ctx.params.hostname ?? "");
    const services = parts.findRegistryServices(hostname, rootFor(ctx));
    answerDiscovery(ctx, services);
  });
  router.get("/", (ctx) => setUp.answer(ctx));
  router.get("/ca.pem", (ctx) => setUp.authority(ctx));
  router.get("/browse", (ctx) => pages.browse.answer(ctx));
  router.get("/alarms", (ctx) => answerAlarms(ctx, pages));
  router.get(explained, (ctx) => answerWhy(ctx, parts.explanations));
  router.get("/healthz", (ctx) => answerHealth(ctx, readiness));
  router.get("/readyz", (ctx) => answerReadiness(ctx, readiness));
  router.get("/metrics", (ctx) => answerMetrics(ctx, metrics));
  return router;
}

function refuseDocument({ params }: RoutedContext): never {
  throw failure(
    "malformed-address",
    "document of a provider",
    params.document ?? "",
    "index.json, VERSION.json or an archive's name",
  );
}
