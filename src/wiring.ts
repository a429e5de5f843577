import { hostname as machineName } from "node:os";
import { getCACertificates } from "node:tls";
import { type Configuration } from "./config.ts";
import type { BundleLimits } from "./mirror/bundle-file.ts";
import { largestProof } from "./mirror/bundle-proof.ts";
import { TrustLedger } from "./mirror/trust-ledger.ts";
import { Daemon } from "./server/daemon.ts";
import { ServiceNotification } from "./server/service-notification.ts";
import { makeCertificateSource } from "./server/certificate-source.ts";
import { layOutStore, type StoreLayout } from "./store/layout.ts";
import {
  lockStorageDirectory,
  prepareStorageDirectory,
} from "./store/storage-directory.ts";
import type { AuditLog } from "./telemetry/audit-log.ts";
import { wireCaps } from "./wiring/caps.ts";
import { wireCore, wireRecords, type Core } from "./wiring/core.ts";
import { wireAuthentication } from "./wiring/authentication.ts";
import { wireFaces } from "./wiring/faces.ts";
import { wireRules } from "./wiring/rules.ts";
import { wireWatch, type Watch } from "./wiring/watch.ts";

export { wireRunningMirror } from "./wiring/origins.ts";
export { wireRules } from "./wiring/rules.ts";
export { zipLimits } from "./wiring/threads.ts";

/**
 * A daemon that holds its storage directory and is about to listen; `load`
 * StoreUnusable and StoreInUse.
 */
export async function wireDaemon(load: () => Configuration): Promise<Daemon> {
  const configuration = load();
  const rules = wireRules(configuration);
  const { listen, limits, storage } = configuration;
  const layout = layOutStore(storage.directory);
  await prepareStorageDirectory(layout);
  const lock = lockStorageDirectory(layout);
  const watch = wireWatch(configuration, layout);
  const { logger, audit } = watch;
  const access = await wireAuthentication(configuration, layout, logger);
  const core = wireCore(configuration, rules, layout, watch);
  // Takes 0.2 s the first time, which no client should wait for.
  getCACertificates("system");
  const { connectionCaps, ...caps } = wireCaps(configuration, watch);
  const { authentication } = access;
  const parts = { ...caps, authentication };
  const faces = wireFaces(configuration, core, parts, watch);
  return new Daemon({
    ...faces,
    listen,
    limits,
    connectionCaps,
    hostnames: [...configuration.origins.keys()],
    machineName: machineName(),
    certificates: makeCertificateSource(listen, layout.tls, machineName()),
    notification: wireNotification(configuration, watch),
    sweep: (before) => core.blobs.sweepStaging(before),
    logger,
    reload: () => {
      const next = load();
      core.admission.replaceRules(wireRules(next));
      access.replace(next);
    },
    close: async () => {
      access.close();
      await core.close();
      await audit.close();
      lock.release();
    },
  });
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

/** The mirror for a command, beside a daemon or without one: the same store, origins and rules. */
export async function wireMirror(configuration: Configuration): Promise<Core> {
  const rules = wireRules(configuration);
  const layout = layOutStore(configuration.storage.directory);
  await prepareStorageDirectory(layout);
  const watch = wireCommandWatch(configuration, layout);
  const core = wireCore(configuration, rules, layout, watch);
  const close = async () => {
    await core.close();
    await watch.audit.close();
  };
  return { ...core, close };
}

/** How large the parts of a bundle may be, as if an origin had sent them. */
export function wireBundleLimits({ limits }: Configuration): BundleLimits {
  const { originJson: manifest, archive } = limits;
  return { manifest, archive, proof: largestProof(limits) };
}

/** The trust ledger of a store, for commands beside a running daemon. */
export async function wireLedger(
  configuration: Configuration,
): Promise<{ readonly ledger: TrustLedger; readonly audit: AuditLog }> {
  const layout = layOutStore(configuration.storage.directory);
  await prepareStorageDirectory(layout);
  const watch = wireCommandWatch(configuration, layout);
  const ledger = new TrustLedger(wireRecords(layout, watch));
  return { ledger, audit: watch.audit };
}

/** Standard error belongs to the command; and only the daemon rotates the audit log, since two could overwrite a file. */
function wireCommandWatch(
  configuration: Configuration,
  layout: StoreLayout,
): Watch {
  const log = { ...configuration.log, level: "error" } as const;
  return wireWatch({ ...configuration, log }, layout, { maxSize: Infinity });
}
