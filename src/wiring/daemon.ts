import { hash, randomBytes } from "node:crypto";
import { rm } from "node:fs/promises";
import { hostname as machineName } from "node:os";
import { getCACertificates } from "node:tls";
import { isDeepStrictEqual } from "node:util";
import type { Configuration } from "../config/load.ts";
import { isUnread } from "../errors/index.ts";
import { PlatformArchives } from "../mirror/providers/ensured-archive.ts";
import { watchPending } from "../mirror/trust/pending-decisions.ts";
import { findUndone } from "../mirror/trust/undone-decisions.ts";
import { explain } from "../mirror/why/why.ts";
import { makeApp } from "../server/app.ts";
import { Daemon } from "../server/daemon.ts";
import { ClientAddresses } from "../server/http/client-address.ts";
import { answeredCodes } from "../server/http/error-response.ts";
import { listenerLimits } from "../server/http/listener.ts";
import { makeModuleRegistry } from "../server/protocols/module-registry.ts";
import { makeNetworkMirror } from "../server/protocols/network-mirror.ts";
import { makeProviderRegistry } from "../server/protocols/provider-registry.ts";
import { PublicAddress } from "../server/protocols/public-address.ts";
import { recordRefusals } from "../server/requests/refusal-audit.ts";
import { recordWhenClosed } from "../server/requests/request-log.ts";
import { ServiceNotification } from "../server/service-notification.ts";
import { makeCertificateSource } from "../server/tls/certificate-source.ts";
import { makeBrowsePage } from "../server/web/browse-page.ts";
import { Readiness } from "../server/web/operations.ts";
import { makeSetUpPage } from "../server/web/set-up-page.ts";
import { writeDurably } from "../store/durable-file.ts";
import { layOutStore, stagingPath, type StoreLayout } from "../store/layout.ts";
import {
  prepareStorageDirectory,
  sweepStaging,
} from "../store/storage-directory.ts";
import { candidateReasons } from "../telemetry/definitions.ts";
import { Metrics } from "../telemetry/metrics.ts";
import { wireAuthentication } from "./authentication.ts";
import { type Core, wireCore, wireRules } from "./core.ts";
import { type DaemonTelemetry, wireTelemetry } from "./telemetry.ts";

/** A daemon that is about to listen; `load` is called again on a reload. Clients are held to `within`. */
export async function wireDaemon(
  load: () => Configuration,
  version: string,
  within = listenerLimits,
): Promise<Daemon> {
  const configuration = load();
  const { listen, origins } = configuration;
  const layout = layOutStore(configuration.storage.directory);
  await prepareStorageDirectory(layout);
  const metrics = new Metrics(version);
  const wired = wireTelemetry(configuration, layout, metrics);
  const telemetry: DaemonTelemetry = { ...wired, metrics };
  const { audit, logger } = telemetry;
  try {
    const removed = await sweepStaging(layout);
    if (removed > 0)
      logger.info({ removed }, "files of killed processes were removed");
  } catch (err) {
    logger.warn({ err }, "staging/ could not be cleared");
  }
  // That a policy only reports must not be taken for one that refuses.
  const tellMode = ({ policy }: Configuration) => {
    if (policy.mode === "report")
      logger.warn(
        "policy.mode is report: what the policy would refuse is served",
      );
  };
  tellMode(configuration);
  const core = wireCore(configuration, layout, telemetry);
  const token = randomBytes(32).toString("base64url");
  const access = await wireAuthentication(
    configuration,
    core.records,
    telemetry,
    hash("sha256", token, "buffer"),
  ).catch(async (error: unknown) => {
    await core.close();
    throw error;
  });
  await core.nearest?.start();
  await tellUndone(core, layout, telemetry);
  // Takes 0.2 s the first time, which no client should wait for.
  getCACertificates("system");
  const limits = { ...configuration.limits, ...within };
  const { platforms, ...served } = wireApp(
    configuration,
    core,
    access,
    limits,
    telemetry,
  );
  let isAnnounced = false;
  return new Daemon({
    ...{ ...served, ...telemetry, listen, limits },
    hostnames: [...origins.keys()],
    machineName: listen.names[0] ?? machineName(),
    certificates: makeCertificateSource(listen, layout.tls, machineName()),
    notification: new ServiceNotification({
      ...configuration.notify,
      onFailure: (err) =>
        logger.warn({ err }, "the service manager was not reached"),
    }),
    tend: async () => {
      await core.retention.tend();
      await audit.trim();
    },
    reload: () => {
      const next = load();
      tellMode(next);
      core.admission.replaceRules(wireRules(next));
      access.replace(next);
      return listWaitingKeys(configuration, next);
    },
    // Commands of this machine find out where it listens, and how they may ask for its metrics.
    announce: async (url) => {
      isAnnounced = true;
      const text = `${JSON.stringify({ pid: process.pid, url, token })}\n`;
      const staged = stagingPath(layout, "daemon");
      await writeDurably(staged, layout.daemon, text).catch((err: unknown) =>
        logger.error({ err }, "commands cannot find this daemon"),
      );
    },
    close: async () => {
      // One that never listened leaves another daemon's.
      if (isAnnounced) await rm(layout.daemon, { force: true });
      await access.close();
      platforms.close();
      await core.close();
      await telemetry.close();
    },
  });
}

/** Says which decisions of operators an older backup took back; their file is not part of the database. */
async function tellUndone(
  { trust }: Core,
  layout: StoreLayout,
  { alarms, logger, metrics }: DaemonTelemetry,
): Promise<void> {
  const find = () => findUndone(layout.decisions, trust);
  const count = async () => (await find().catch(() => undefined))?.length;
  metrics.watch(metrics.undoneDecisions, count);
  try {
    for (const one of await find()) {
      const { repeat, subject, decision, key, content, at, by } = one;
      alarms.raise("decision-undone", {
        ...{ subject, decision, key, content, decidedAt: at, by, repeat },
      });
    }
  } catch (err) {
    logger.warn({ err }, "the log of decisions could not be read");
  }
}

/** What a reload takes, and what no file says. */
const reloaded = new Set([
  ...["policy", "trust", "auth"],
  ...["proxy", "notify", "searchPath", "source"],
]);

/** Lists changed keys that wait for the next start. */
function listWaitingKeys(before: Configuration, next: Configuration) {
  const now = new Map<string, unknown>(Object.entries(next));
  return Object.entries(before)
    .filter(([key, value]) => !isDeepStrictEqual(value, now.get(key)))
    .flatMap(([key]) => (reloaded.has(key) ? [] : key));
}

/** Every URL that the daemon answers. */
function wireApp(
  { listen, publicUrl, origins, offline, platforms: wanted }: Configuration,
  core: Core,
  { authentication, addLogin }: Awaited<ReturnType<typeof wireAuthentication>>,
  limits: Configuration["limits"] & typeof listenerLimits,
  { audit, alarms, database, logger, metrics }: DaemonTelemetry,
) {
  const { admission, blobs, bucket, providers, modules, releases } = core;
  const clients = new ClientAddresses(listen.trustedProxies);
  const publicAddress = new PublicAddress(publicUrl, clients);
  const common = { publicAddress, authentication, audit, limits };
  const readiness = new Readiness(
    () => blobs.probe(),
    () => database.problem ?? bucket?.problem,
  );
  const setUp = makeSetUpPage(
    [...origins.keys()],
    publicAddress,
    authentication,
    () => admission.rules.mode === "report",
  );
  // An offline mirror has nothing to fetch.
  const platforms = new PlatformArchives(offline ? [] : wanted, core);
  const findPending = watchPending(core.trust, () => admission.rules);
  metrics.watch(metrics.pendingDecisions, async () => {
    const found = await findPending().catch((error: unknown) => {
      // The other numbers are told all the same.
      if (!isUnread(error)) throw error;
    });
    const count = (reason: string) =>
      found?.pending.filter((one) => one.reason === reason).length ?? NaN;
    return Object.fromEntries(
      candidateReasons.map((reason) => [reason, count(reason)]),
    );
  });
  metrics.expectCodes("refusals", answeredCodes.refusals);
  metrics.expectCodes("failures", answeredCodes.failures);
  // The daemon offers the first origin's services under its own hostname.
  const [ownOrigin] = origins.keys();
  const app = makeApp({
    ...{ clients, publicAddress, authentication, readiness, metrics },
    ...{ setUp, findPending, ownOrigin, addLogin },
    browse: makeBrowsePage(releases, core.records),
    explain: (question) => explain(core, question),
    providers: makeNetworkMirror(providers, platforms, common),
    registry: makeProviderRegistry(providers, platforms, common),
    modules: makeModuleRegistry(modules, common),
    recordRefusal: recordRefusals(audit, alarms),
    onUnexpected: (err, where) =>
      alarms.raise("unexpected-error", { where, err }),
    recordWhenClosed: recordWhenClosed(logger, metrics),
  });
  return { app, setUp, readiness, platforms };
}
