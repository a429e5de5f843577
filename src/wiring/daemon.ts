import { hostname as machineName } from "node:os";
import { getCACertificates } from "node:tls";
import { type Configuration, listChangedKeys } from "../config/load.ts";
import { failure } from "../errors/index.ts";
import type { AdmissionRules } from "../mirror/trust/admission-rules.ts";
import { findUndone, tellsDecision } from "../mirror/trust/undone-decisions.ts";
import { Daemon } from "../server/daemon.ts";
import { ClientAddresses } from "../server/http/client-address.ts";
import { listenerLimits } from "../server/http/listener.ts";
import { ServiceNotification } from "../server/service-notification.ts";
import { makeCertificateSource } from "../server/tls/certificate-source.ts";
import { layOutStore, type StoreLayout } from "../store/layout.ts";
import {
  lockStorageDirectory,
  prepareStorageDirectory,
  type StorageLock,
  sweepStaging,
} from "../store/storage-directory.ts";
import { readEntries } from "../telemetry/audit-reader.ts";
import { Metrics } from "../telemetry/metrics.ts";
import { wireAdmin } from "./admin/admin.ts";
import { wireAuthentication } from "./authentication.ts";
import { type Core, wireCore, wireRules } from "./core.ts";
import { wireProtocols } from "./protocols.ts";
import { openArchiveBucket } from "./store/archive-bucket.ts";
import {
  type DaemonTelemetry,
  type Telemetry,
  wireTelemetry,
} from "./telemetry.ts";

/**
 * A daemon that holds its storage directory and is about to listen; `load` is called again on a reload. Clients are
 * held to `within`.
 */
export async function wireDaemon(
  load: () => Configuration,
  version: string,
  within = listenerLimits,
): Promise<Daemon> {
  const configuration = load();
  const rules = wireRules(configuration);
  const { listen, publicUrl } = configuration;
  const { layout, telemetry, release } = await takeStore(
    configuration,
    version,
  );
  const bucket = openArchiveBucket(configuration, telemetry);
  tellMode(rules, telemetry);
  const core = wireCore(configuration, rules, layout, telemetry, { bucket });
  const access = await wireAuthentication(
    configuration,
    core.records,
    telemetry,
  ).catch(async (error: unknown) => {
    await core.close();
    throw error;
  });
  await core.nearest?.outbox.start();
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
  const admin = wireAdmin(
    core,
    { configuration, layout, telemetry },
    protocols.readiness,
    version,
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
    tend: () => core.retention.tend(),
    ...telemetry,
    reload: () => {
      const next = load();
      core.admission.replaceRules(tellMode(wireRules(next), telemetry));
      access.replace(next);
      return listWaitingKeys(configuration, next);
    },
    admit: (url) => admin.listen(url),
    close: async () => {
      await admin.close();
      await access.close();
      protocols.close();
      await core.close();
      await telemetry.audit.close();
      release();
    },
  });
}

/** Makes this process the one that works on the storage directory. */
async function takeStore(configuration: Configuration, version: string) {
  const layout = layOutStore(configuration.storage.directory);
  await prepareStorageDirectory(layout);
  const lock = lockStorageDirectory(layout, "provender serve");
  const metrics = new Metrics(new Date());
  metrics.showBuild(version);
  const telemetry: DaemonTelemetry = {
    ...wireTelemetry(configuration, layout, metrics),
    metrics,
  };
  await sweepLeftovers(layout, telemetry);
  const beat = watchLock(lock, layout, telemetry);
  const release = () => {
    clearInterval(beat);
    lock.release();
  };
  return { layout, telemetry, release };
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

/** Says which decisions of operators an older backup took back; the log of them is not part of the records. */
async function tellUndone(
  { trust }: Core,
  layout: StoreLayout,
  { alarms, logger }: Telemetry,
): Promise<void> {
  try {
    const undone = await findUndone(
      readEntries(layout.audit.decisions, tellsDecision),
      trust,
    );
    for (const { repeat, subject, decision, key, content, at, by } of undone)
      alarms.raise("decision-undone", {
        ...{ subject, decision, key, content, decidedAt: at, by, repeat },
      });
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

/** Milliseconds between two looks at the lock. */
const lockBeat = 1_000;

/** Ends this daemon in order when another one has its directory. */
function watchLock(
  lock: StorageLock,
  { directory }: StoreLayout,
  { logger }: Telemetry,
): NodeJS.Timeout {
  const look = () => {
    if (lock.keep()) return;
    clearInterval(beat);
    const error = failure("store-in-use", "Another process", directory);
    logger.fatal({ err: error }, "the lock of the storage directory is lost");
    process.kill(process.pid, "SIGTERM");
  };
  const beat = setInterval(look, lockBeat).unref();
  return beat;
}
