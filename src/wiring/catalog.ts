import { type Configuration } from "../config/load.ts";
import { type Hostname } from "../address/hostname.ts";
import {
  formatProviderAddress,
  type ProviderAddress,
} from "../address/provider-address.ts";
import type { Admission } from "../mirror/trust/admission.ts";
import type { Clock } from "../mirror/cache/clock.ts";
import {
  MetadataCache,
  type MetadataRecords,
} from "../mirror/cache/metadata-cache.ts";
import {
  ProviderCatalog,
  type ProviderCatalogParts,
} from "../mirror/providers/provider-catalog.ts";
import { type ReleaseOrigin } from "../mirror/releases/fetch.ts";
import { ReleaseHistory } from "../mirror/trust/release-history.ts";
import { ReleaseRecords } from "../mirror/releases/records.ts";
import { type SignatureJudge } from "../mirror/releases/verdict.ts";
import { isAlarming } from "../mirror/releases/version-list.ts";
import {
  providerVersionNaming,
  VersionRecords,
} from "../mirror/releases/version-records.ts";
import { classifyFileFailure } from "../store/file-failure.ts";
import type { RecordStore } from "../store/records/record-store.ts";
import type { Logger } from "../telemetry/logger.ts";
import { signaturePolicyOf } from "./origins.ts";

const unwritten = "a record was not written";
const staleSentence =
  "the origin fails: what it said so many seconds ago is served";

interface CatalogParts {
  readonly records: RecordStore;
  readonly judge: SignatureJudge;
  readonly admission: Admission;
  readonly logger: Logger;
}

export function wireCatalog(
  configuration: Configuration,
  releaseOrigins: ReadonlyMap<Hostname, ReleaseOrigin>,
  parts: CatalogParts,
) {
  const { freshness, policy, origins } = configuration;
  const { clock } = parts.admission.parts;
  const makeCache = wireCaches(configuration, parts.logger, clock);
  const releaseRecords = new ReleaseRecords(parts.records, {
    judge: parts.judge,
    clock,
    policyOf: (hostname) => signaturePolicyOf(origins.get(hostname)),
    beginLedger: (provider) => parts.admission.parts.ledger.begin(provider),
  });
  const { alarms } = parts.admission.parts;
  const history = new ReleaseHistory(parts.admission.parts);
  const catalog = new ProviderCatalog({
    origins: releaseOrigins,
    versions: makeCache(
      new VersionRecords(parts.records, providerVersionNaming),
    ),
    releases: makeCache(releaseRecords),
    history,
    readFirstDigests: (address) => releaseRecords.readFirstDigests(address),
    claim: wireClaim(releaseRecords, parts.logger, clock),
    notFound: freshness.notFound,
    fallThrough: policy.otherHosts === "not-found",
    onVanished: (provider, versions, of) => {
      if (isAlarming(versions.length, of))
        alarms.raise("versions-vanished", {
          provider: formatProviderAddress(provider),
          versions,
        });
    },
  });
  return {
    catalog,
    history,
    releases: releaseRecords,
    listKept: (provider: ProviderAddress) => releaseRecords.list(provider),
    listKeptProviders: (most: number) => releaseRecords.listProviders(most),
  };
}

function wireClaim(
  records: ReleaseRecords,
  logger: Logger,
  clock: Clock,
): ProviderCatalogParts["claim"] {
  return async (address, value) => {
    const kept = { value, confirmedAt: clock.now() };
    try {
      return await records.claim(address, kept);
    } catch (error) {
      // A disk that is full must not turn a good answer into a failure.
      if (classifyFileFailure(error) === undefined) throw error;
      const record = records.format(address);
      logger.error({ record, err: error }, unwritten);
      return undefined;
    }
  };
}

/** Makes the cache for one kind of metadata. */
export function wireCaches(
  { limits, freshness, offline }: Configuration,
  logger: Logger,
  clock: Clock,
) {
  const onUnwritten = (record: string, err: unknown) =>
    logger.error({ record, err }, unwritten);
  const onStale = (record: string, age: number, error: unknown) => {
    const facts = { record, age: Math.round(age / 1000) };
    const { message } = error as Error;
    logger.warn({ ...facts, error: message }, staleSentence);
  };
  return <K, V extends object>(records: MetadataRecords<K, V>) =>
    new MetadataCache(
      records,
      { ...limits, ...freshness },
      clock,
      offline,
      onUnwritten,
      onStale,
    );
}
