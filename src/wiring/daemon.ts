import { randomBytes } from "node:crypto";
import { rm } from "node:fs/promises";
import { hostname as machineName } from "node:os";
import { getCACertificates } from "node:tls";
import { type Configuration, listChangedKeys } from "../config/load.ts";
import type { AdmissionRules } from "../mirror/trust/admission-rules.ts";
import { findUndone } from "../mirror/trust/undone-decisions.ts";
import { Daemon } from "../server/daemon.ts";
import { ClientAddresses } from "../server/http/client-address.ts";
import { listenerLimits } from "../server/http/listener.ts";
import { ServiceNotification } from "../server/service-notification.ts";
import { makeCertificateSource } from "../server/tls/certificate-source.ts";
import { writeDurably } from "../store/durable-file.ts";
import { layOutStore, stagingPath, type StoreLayout } from "../store/layout.ts";
import {
  prepareStorageDirectory,
  sweepStaging,
} from "../store/storage-directory.ts";
import { Metrics } from "../telemetry/metrics.ts";
import { wireAuthentication } from "./authentication.ts";
import { type Core, wireCore, wireRules } from "./core.ts";
import { wireProtocols } from "./protocols.ts";
import { openArchiveBucket } from "./archive-bucket.ts";
import {
  type DaemonTelemetry,
  type Telemetry,
  wireTelemetry,
} from "./telemetry.ts";

/** A daemon that is about to listen; `load` is called again on a reload. Clients are held to `within`. */
export async function wireDaemon(
  load: () => Configuration,
  version: string,
  within = listenerLimits,
): Promise<Daemon> {
  const configuration = load();
  const rules = wireRules(configuration);
  const { listen, publicUrl } = configuration;
  const { layout, telemetry } = await openStore(configuration, version);
  const token = randomBytes(32).toString("base64url");
  let isAnnounced = false;
  const bucket = openArchiveBucket(configuration, telemetry);
  tellMode(rules, telemetry);
  const core = wireCore(configuration, rules, layout, telemetry, { bucket });
  const access = await wireAuthentication(
    configuration,
    core.records,
    telemetry,
    token,
  ).catch(async (error: unknown) => {
    await core.close();
    await bucket?.close();
    throw error;
  });
  await core.nearest?.start();
  await tellUndone(core, layout, telemetry);
  // Takes 0.2 s the first time, which no client should wait for.
  getCACertificates("system");
  const clients = new ClientAddresses(listen.trustedProxies);
  const limits = { ...configuration.limits, ...within };
  const protocols = wireProtocols(
    configuration,
    core,
    { clients, limits, ...access },
    telemetry,
  );
  return new Daemon({
    ...protocols,
    ...{ listen, limits, publicUrl },
    hostnames: [...configuration.origins.keys()],
    machineName: listen.names[0] ?? machineName(),
    needsToken: access.authentication.isOn,
    certificates: makeCertificateSource(listen, layout.tls, machineName()),
    notification: new ServiceNotification({
      ...configuration.notify,
      onFailure: (error) =>
        telemetry.logger.warn(
          { err: error },
          "the service manager was not reached",
        ),
    }),
    tend: async () => {
      await core.retention.tend();
      await telemetry.audit.trim();
    },
    ...telemetry,
    reload: () => {
      const next = load();
      core.admission.replaceRules(tellMode(wireRules(next), telemetry));
      access.replace(next);
      return listWaitingKeys(configuration, next);
    },
    announce: async (url) => {
      isAnnounced = true;
      await announce(layout, { url, token }, telemetry);
    },
    close: async () => {
      // One that never listened leaves another daemon's.
      if (isAnnounced) await rm(layout.daemon, { force: true });
      await access.close();
      protocols.close();
      await core.close();
      await bucket?.close();
      await telemetry.close();
    },
  });
}

async function openStore(configuration: Configuration, version: string) {
  const layout = layOutStore(configuration.storage.directory);
  await prepareStorageDirectory(layout);
  const metrics = new Metrics(version);
  const telemetry: DaemonTelemetry = {
    ...wireTelemetry(configuration, layout, metrics),
    metrics,
  };
  await sweepLeftovers(layout, telemetry);
  return { layout, telemetry };
}

/** Tells commands of this machine where the daemon listens, and how they may ask for its metrics. */
async function announce(
  layout: StoreLayout,
  asked: { readonly url: string; readonly token: string },
  { logger }: Telemetry,
): Promise<void> {
  const text = `${JSON.stringify({ pid: process.pid, ...asked })}\n`;
  const staged = stagingPath(layout, "daemon");
  await writeDurably(staged, layout.daemon, text).catch((err: unknown) =>
    logger.error({ err }, "commands cannot find this daemon"),
  );
}

async function sweepLeftovers(
  layout: StoreLayout,
  { logger }: Telemetry,
): Promise<void> {
  try {
    const removed = await sweepStaging(layout);
    if (removed > 0)
      logger.info({ removed }, "files of killed processes were removed");
  } catch (error) {
    logger.warn({ err: error }, "staging/ could not be cleared");
  }
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
  } catch (error) {
    logger.warn({ err: error }, "the log of decisions could not be read");
  }
}

/** Logs a policy that only reports, so that it is not taken for one that refuses. */
function tellMode(rules: AdmissionRules, { logger }: Telemetry) {
  if (rules.mode === "report")
    logger.warn(
      "policy.mode is report: what the policy would refuse is served",
    );
  return rules;
}

/** Lists changed keys that wait for the next start. */
function listWaitingKeys(before: Configuration, next: Configuration) {
  return listChangedKeys(before, next).filter(
    (key) => !/^(?:policy|trust|auth)\b/.test(key),
  );
}
