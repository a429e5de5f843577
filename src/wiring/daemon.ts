import { hostname as machineName } from "node:os";
import { getCACertificates } from "node:tls";
import { listChangedKeys, type Configuration } from "../config/load.ts";
import { Daemon } from "../server/daemon.ts";
import { ServiceNotification } from "../server/service-notification.ts";
import { makeCertificateSource } from "../server/tls/certificate-source.ts";
import { StoreInUse } from "../errors/index.ts";
import { layOutStore, type StoreLayout } from "../store/layout.ts";
import {
  lockStorageDirectory,
  prepareStorageDirectory,
  type DaemonLock,
} from "../store/storage-directory.ts";
import { wireAuthentication } from "./authentication.ts";
import { wireCaps } from "./caps.ts";
import { wireCore } from "./core.ts";
import { wireFaces } from "./faces.ts";
import { wireRules } from "./rules.ts";
import { wireWatch, type Watch } from "./watch.ts";

/**
 * A daemon that holds its storage directory and is about to listen; `load`
 * is called again on a reload. Throws what `load` throws, StoreUnusable and StoreInUse.
 */
export async function wireDaemon(load: () => Configuration): Promise<Daemon> {
  const configuration = load();
  const rules = wireRules(configuration);
  const { listen, limits, storage } = configuration;
  const layout = layOutStore(storage.directory);
  await prepareStorageDirectory(layout);
  const lock = lockStorageDirectory(layout);
  const watch = wireWatch(configuration, layout);
  const beat = watchLock(lock, layout, watch);
  const { logger, alarms, metrics, audit } = watch;
  const access = await wireAuthentication(configuration, layout, logger);
  const core = wireCore(configuration, rules, layout, watch);
  // Takes 0.2 s the first time, which no client should wait for.
  getCACertificates("system");
  const { connectionCaps, ...caps } = wireCaps(configuration, watch);
  const parts = { ...caps, ...access };
  const faces = wireFaces(configuration, core, parts, watch);
  return new Daemon({
    ...faces,
    listen,
    limits,
    connectionCaps,
    hostnames: [...configuration.origins.keys()],
    machineName: machineName(),
    needsToken: access.authentication.isOn,
    certificates: makeCertificateSource(listen, layout.tls, machineName()),
    notification: wireNotification(configuration, watch),
    sweep: (before) => core.blobs.sweepStaging(before),
    tend: () => core.retention.tend(),
    logger,
    alarms,
    metrics,
    reload: () => {
      const next = load();
      core.admission.replaceRules(wireRules(next));
      access.replace(next);
      return listChangedKeys(configuration, next).filter(
        (key) => !/^(?:policy|trust|auth)\b/.test(key),
      );
    },
    close: async () => {
      await access.close();
      await core.close();
      faces.refusals.close();
      alarms.close();
      await audit.close();
      clearInterval(beat);
      lock.release();
    },
  });
}

/** Milliseconds between two looks at the lock. */
const lockBeat = 1_000;

/** Ends this daemon in order when another one has its directory. */
function watchLock(
  lock: DaemonLock,
  { directory }: StoreLayout,
  { logger }: Watch,
): NodeJS.Timeout {
  const look = () => {
    if (lock.keep()) return;
    clearInterval(beat);
    const error = new StoreInUse(directory);
    logger.fatal({ err: error }, "the lock of the storage directory is lost");
    process.kill(process.pid, "SIGTERM");
  };
  const beat = setInterval(look, lockBeat).unref();
  return beat;
}

function wireNotification(
  { notify }: Configuration,
  { logger }: Watch,
): ServiceNotification {
  return new ServiceNotification({
    ...notify,
    onFailure: (error) =>
      logger.warn({ err: error }, "the service manager was not reached"),
  });
}
