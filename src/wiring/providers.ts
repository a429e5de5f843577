import type { Sha256 } from "../address/hash.ts";
import type { Hostname } from "../address/hostname.ts";
import { formatProviderAddress } from "../address/provider-address.ts";
import { type Configuration } from "../config/load.ts";
import { isFailure } from "../errors/index.ts";
import { ArchiveCache } from "../mirror/cache/archive-cache.ts";
import type { Clock } from "../mirror/cache/clock.ts";
import { ProviderCatalog } from "../mirror/standings/provider-catalog.ts";
import { FirstContacts } from "../mirror/standings/first-contacts.ts";
import { ProviderMirror } from "../mirror/providers/provider-mirror.ts";
import { RefusedVersions } from "../mirror/standings/refused-versions.ts";
import { Standings } from "../mirror/standings/standings.ts";
import { type ReleaseOrigin } from "../mirror/releases/release-origin.ts";
import { LearntDigests } from "../mirror/releases/learnt-digests.ts";
import { PackageHashes } from "../mirror/releases/package-hashes.ts";
import type { RecordStore } from "../store/records/record-store.ts";
import type { Logger } from "../telemetry/logger.ts";
import { TamperedArchives } from "../mirror/releases/tampered-archives.ts";
import type {
  AdmissionRules,
  PolicyRefusal,
} from "../mirror/trust/admission-rules.ts";
import { Admission } from "../mirror/trust/admission.ts";
import type { Notebook } from "../mirror/trust/notebook.ts";
import { Settlements } from "../mirror/trust/settlements.ts";
import { TrustEvents } from "../mirror/trust/trust-events.ts";
import { wireClients, type OriginClients } from "./clients.ts";
import { wireCaches, type Kept } from "./kept.ts";
import { wireOrigins } from "./origins.ts";
import { shareLimits } from "../mirror/cache/fair-share.ts";
import { wireHashing } from "./threads.ts";
import type { Telemetry } from "./telemetry.ts";

/** The mirror of providers without its protocols: what commands work with, and a part of a daemon. */
export interface Providers extends Kept {
  readonly archives: ArchiveCache;
  readonly clients: OriginClients;
  readonly hashes: PackageHashes;
  readonly notebook: Notebook;
  readonly admission: Admission;
  readonly events: TrustEvents;
  readonly settlements: Settlements;
  readonly standings: Standings;
  readonly catalog: ProviderCatalog;
  readonly tampered: TamperedArchives;
  readonly providers: ProviderMirror;
  /** Ends the downloads under way and refuses new ones; what is stored can still be read. */
  stopFetching(): Promise<void>;
}

export function wireProviders(
  configuration: Configuration,
  rules: AdmissionRules,
  kept: Kept,
  telemetry: Telemetry,
): Providers {
  const { offline } = configuration;
  const { alarms, logger } = telemetry;
  const { clock, trust, blobs, records, judge, reserve, releases } = kept;
  const hashing = wireHashing();
  const hashes = new PackageHashes(blobs, records, hashing, (sha256, err) => {
    if (!hashing.isClosed)
      logger.error({ sha256, err }, "an archive could not be hashed");
  });
  const tampered = wireTampered(records, logger);
  const seen = { hashes, tampered };
  const archives = wireArchives(configuration, kept, seen, telemetry);
  const clients = wireClients(configuration, telemetry, clock);
  const limits = { ...shareLimits, ...configuration.limits };
  const parts = { blobs, records, hashes, limits, reserve };
  let learnt: LearntDigests | undefined;
  const origins = wireOrigins(configuration, clients.own, {
    ...{ clock, judge, logger },
    findLearnt: () => (learnt ??= new LearntDigests(parts)),
  });
  const notebook = wireNotebook(telemetry, clock);
  const admission = new Admission(trust, notebook, rules);
  const events = new TrustEvents(trust, notebook);
  const trusted = { ...kept, events, notebook };
  const settling = wireStandings(configuration, origins, trusted, telemetry);
  const providers = new ProviderMirror({
    ...{ ...settling, admission, archives, hashes, releases },
    ...{ alarms, offline },
  });
  const stopFetching = async () => {
    await Promise.all([archives.close(), learnt?.close()]);
  };
  const close = async () => {
    await stopFetching();
    await Promise.all([hashing.close(), clients.close(), tampered.close()]);
    await kept.close();
  };
  return {
    ...kept,
    ...settling,
    ...{ archives, clients, hashes, notebook, admission, events },
    ...{ tampered, providers, stopFetching, close },
  };
}

function wireNotebook(
  { alarms, audit, logger, metrics }: Telemetry,
  clock: Clock,
): Notebook {
  const onReported = ({ code, message }: PolicyRefusal) => {
    metrics?.count("policyReported", { code });
    const facts = { code, error: message };
    logger.info(facts, "the policy would refuse this, and only reports");
  };
  return { audit, alarms, clock, onReported };
}

interface TrustedParts extends Kept {
  readonly events: TrustEvents;
  readonly notebook: Notebook;
}

/** Everything that decides which release clients get. */
function wireStandings(
  configuration: Configuration,
  origins: ReadonlyMap<Hostname, ReleaseOrigin>,
  { events, notebook, ...kept }: TrustedParts,
  telemetry: Telemetry,
): Pick<Providers, "catalog" | "settlements" | "standings"> {
  const { freshness, limits, policy, offline } = configuration;
  const { clock, records, versions } = kept;
  const make = wireCaches(configuration, telemetry, kept);
  const releases = make.cache(kept.releases);
  const catalog = new ProviderCatalog({
    ...{ origins, versions, releases, events, notebook },
    notFound: freshness.notFound,
    fallThrough: policy.otherHosts === "not-found",
    onVanished: (address, vanished) => {
      const provider = formatProviderAddress(address);
      const facts = { provider, versions: vanished };
      telemetry.alarms.raise("versions-vanished", facts);
    },
    onMalformed: (address, parts) => {
      const provider = formatProviderAddress(address);
      const facts = { provider, parts };
      telemetry.logger.warn(facts, "malformed parts of a list are left out");
    },
  });
  const settlements = new Settlements({ releases, events, notebook });
  const refused = new RefusedVersions({
    ...{ records, clock, shared: kept.replica !== undefined },
    onUnwritten: make.onUnwritten,
    onPhantom: (release) => {
      telemetry.metrics?.count("phantoms", {});
      telemetry.logger.warn({ release }, "a listed release has no documents");
    },
  });
  const contacts = new FirstContacts({
    ...{ catalog, events, refused, clock, offline },
    patience: limits.answer,
  });
  const deciding = { catalog, contacts, settlements, refused };
  return { catalog, settlements, standings: new Standings(deciding) };
}

function wireTampered(records: RecordStore, logger: Logger): TamperedArchives {
  return new TamperedArchives(records, (sha256, err) =>
    logger.warn(
      { sha256, err },
      "a note that an archive was tampered with could not be written",
    ),
  );
}

function wireArchives(
  { limits }: Configuration,
  { blobs, clock, reserve, nearest }: Kept,
  { hashes, tampered }: Pick<Providers, "hashes" | "tampered">,
  { logger, metrics, alarms }: Telemetry,
): ArchiveCache {
  const events = {
    onVerified: (sha256: Sha256, stored: Promise<void>) => {
      tampered.forget(sha256);
      hashes.schedule(sha256, stored);
    },
    onFailed: (archive: string, error: unknown, host: string | undefined) => {
      if (isFailure(error, "store-full"))
        metrics?.count("archives", { outcome: "passed" });
      if (isFailure(error, "archive-digest")) {
        const { expected, got } = error;
        tampered.note(error, clock.now());
        alarms.raise("archive-tampered", { archive, host, expected, got });
      }
      const { message } = error as Error;
      logger.warn(
        { archive, host, error: message },
        "an archive was not stored",
      );
    },
  };
  const cache = new ArchiveCache(
    blobs,
    { ...shareLimits, ...limits },
    events,
    reserve,
    nearest?.archives,
  );
  metrics?.watchWaiters(() => cache.load.readers);
  metrics?.watch({
    fills: () => cache.load.fills,
    fillsWaiting: () => cache.load.waiting,
  });
  return cache;
}
