import type { Hostname } from "../address/hostname.ts";
import type { Configuration } from "../config/load.ts";
import { isUnread } from "../errors/index.ts";
import { PlatformArchives } from "../mirror/providers/ensured-archive.ts";
import { watchPending } from "../mirror/trust/pending-decisions.ts";
import { type AppParts, makeApp } from "../server/app.ts";
import { answeredCodes } from "../server/http/error-response.ts";
import type { OnUnexpected } from "../server/http/listener.ts";
import { ModuleRegistryProtocol } from "../server/protocols/module-registry.ts";
import { NetworkMirrorProtocol } from "../server/protocols/network-mirror.ts";
import {
  type ProtocolParts,
  PublicAddress,
} from "../server/protocols/public-address.ts";
import { ProviderRegistryProtocol } from "../server/protocols/provider-registry.ts";
import type { Services } from "../server/protocols/service-discovery.ts";
import { RefusalAudit } from "../server/requests/refusal-audit.ts";
import { recordWhenClosed } from "../server/requests/request-log.ts";
import { BrowsePage } from "../server/web/browse-page.ts";
import { Readiness } from "../server/web/operations.ts";
import { SetUpPage } from "../server/web/set-up-page.ts";
import { candidateReasons } from "../telemetry/definitions.ts";
import type { wireAuthentication } from "./authentication.ts";
import { explain } from "../mirror/why/why.ts";
import type { Core } from "./core.ts";
import type { DaemonTelemetry } from "./telemetry.ts";

/** Authentication, addresses and limits of clients. */
type Access = Pick<
  Awaited<ReturnType<typeof wireAuthentication>>,
  "authentication" | "addLogin"
> &
  Pick<AppParts, "clients"> &
  Pick<ProtocolParts, "limits">;

/** Every URL that the daemon answers. */
export function wireProtocols(
  configuration: Configuration,
  core: Core,
  access: Access,
  telemetry: DaemonTelemetry,
) {
  const { blobs, providers, modules } = core;
  const { audit, alarms, metrics } = telemetry;
  const { authentication, clients, limits } = access;
  const readiness = new Readiness(
    () => blobs.probe(),
    () => telemetry.database.problem ?? core.bucket?.problem,
  );
  const publicAddress = new PublicAddress(configuration.publicUrl, clients);
  const addresses = { publicAddress, authentication };
  const common = { ...addresses, audit, limits };
  const { origins, offline } = configuration;
  const { releases, admission } = core;
  const setUp = new SetUpPage({
    ...addresses,
    hostnames: [...origins.keys()],
    isReporting: () => admission.rules.mode === "report",
  });
  const browse = new BrowsePage({ releases, records: core.records });
  const refusals = new RefusalAudit(audit, alarms);
  const findPending = watchAnswers(core, metrics);
  // An offline mirror has nothing to fetch.
  const wanted = offline ? [] : configuration.platforms;
  const platforms = new PlatformArchives(wanted, core);
  const onUnexpected: OnUnexpected = (error, where) =>
    alarms.raise("unexpected-error", { where, err: error });
  const app = makeApp({
    setUp,
    ...{ findPending, browse },
    explain: (question) => explain(core, question),
    ...addresses,
    clients,
    providers: new NetworkMirrorProtocol(providers, platforms, common),
    registry: new ProviderRegistryProtocol(providers, platforms, common),
    modules: new ModuleRegistryProtocol(modules, common),
    readiness,
    findServices: (root) => access.addLogin(wireServices(configuration, root)),
    ownOrigin: findOwnOrigin(configuration),
    // An origin as a registry of its own.
    findRegistryServices: (hostname, root) =>
      nameServices((room) => `${root}registry/${hostname}/v1/${room}/`),
    ...{ refusals, metrics, onUnexpected },
    recordWhenClosed: recordWhenClosed(telemetry.logger, metrics),
  });
  const close = () => {
    platforms.close();
  };
  return { app, setUp, readiness, close };
}

/** Counts answers before there are any, and pending decisions. */
function watchAnswers(
  { trust, admission }: Core,
  metrics: DaemonTelemetry["metrics"],
): ReturnType<typeof watchPending> {
  const findPending = watchPending(trust, () => admission.rules);
  metrics.watch({
    pendingDecisions: async () => {
      const found = await findPending().catch(noneIfUnread);
      const byReason = Map.groupBy(found?.pending ?? [], (one) => one.reason);
      const unknown = found === undefined ? NaN : 0;
      return Object.fromEntries(
        candidateReasons.map((reason) => [
          reason,
          byReason.get(reason)?.length ?? unknown,
        ]),
      );
    },
  });
  metrics.expectCodes("refusals", answeredCodes.refusals);
  metrics.expectCodes("failures", answeredCodes.failures);
  return findPending;
}

/** The other numbers are told all the same. */
function noneIfUnread(error: unknown): undefined {
  if (!isUnread(error)) throw error;
}

/** Names the services that the daemon offers under its own hostname, of one origin; `root` is its URL. */
function wireServices(configuration: Configuration, root: string): Services {
  const origin = findOwnOrigin(configuration);
  return origin === undefined
    ? {}
    : nameServices((room) => `${root}v1/${room}/${origin}/`);
}

/** The origin that the daemon offers under its own hostname: the first one. */
function findOwnOrigin({ origins }: Configuration): Hostname | undefined {
  const [first] = origins.keys();
  return first;
}

function nameServices(locate: (room: string) => string): Services {
  return {
    "providers.v1": locate("providers"),
    "modules.v1": locate("modules"),
  };
}
