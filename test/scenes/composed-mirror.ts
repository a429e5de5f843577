import type { Hostname } from "../../src/address/hostname.ts";
import {
  type ProviderAddress,
  providerAddress,
} from "../../src/address/provider-address.ts";
import { parseVersion } from "../../src/address/version.ts";
import type { Archives } from "../../src/mirror/archives/archives.ts";
import { makeWrongArchives } from "../../src/mirror/archives/wrong-archives.ts";
import {
  MetadataCache,
  type MetadataRecords,
  type Revised,
} from "../../src/mirror/cache/metadata-cache.ts";
import { ProviderChanges } from "../../src/mirror/cache/provider-changes.ts";
import { ProviderMirror } from "../../src/mirror/providers/provider-mirror.ts";
import type { ReleaseOrigin } from "../../src/mirror/releases/evidence.ts";
import type { PackageHashes } from "../../src/mirror/releases/package-hashes.ts";
import { ReleaseRecords } from "../../src/mirror/releases/records.ts";
import type { ReleaseAddress } from "../../src/mirror/releases/release.ts";
import { ProviderCatalog } from "../../src/mirror/standings/provider-catalog.ts";
import { RefusedVersions } from "../../src/mirror/standings/refusals.ts";
import { Standings } from "../../src/mirror/standings/standings.ts";
import type { AdmissionRules } from "../../src/mirror/trust/admission-rules.ts";
import { Admission } from "../../src/mirror/trust/admission.ts";
import { Settlements } from "../../src/mirror/trust/settlements.ts";
import {
  type Notebook,
  TrustEvents,
} from "../../src/mirror/trust/trust-events.ts";
import { TrustStore } from "../../src/mirror/trust/trust-store.ts";
import {
  providerVersionNaming,
  versionRecords,
} from "../../src/mirror/versions/version-list.ts";
import type { RecordStore } from "../../src/store/records/record-store.ts";

export const hostname = "registry.terraform.io" as Hostname;
export const namespace = "acme";

/** Records that tell what other processes wrote, and the trust in them. */
export function composeTrust(records: RecordStore) {
  const changes = new ProviderChanges(records);
  const trust = new TrustStore(records, changes);
  records.listen(() => trust.forget());
  return { records, changes, trust };
}

interface MirrorParts extends ReturnType<typeof composeTrust> {
  readonly notebook: Notebook;
  readonly origin: ReleaseOrigin;
  readonly rules: AdmissionRules;
  readonly archives: Archives;
  /** Milliseconds. */
  readonly freshness: {
    readonly versions: number;
    readonly staleFor: number;
    readonly notFound: number;
  };
}

/** Composes what `wireCore` does for providers, over one registry. */
export function composeProviders(parts: MirrorParts) {
  const { records, changes, notebook, origin, rules, archives, freshness } =
    parts;
  const { clock, alarms } = notebook;
  const { judge, policy } = origin;
  const { offline } = rules;
  const onUnwritten = () => undefined;
  const cacheOf = <K extends object, V extends Revised>(
    of: MetadataRecords<K, V>,
  ) => {
    const cache = new MetadataCache<K, V>(of, {
      limits: { ...freshness, answer: 60_000, waiters: 1_000 },
      ...{ clock, offline, onUnwritten, changes },
      onStale: () => undefined,
    });
    records.listen((changed) => cache.forget(changed));
    return cache;
  };
  const terms = { judge, clock, policyOf: () => policy };
  const releases = new ReleaseRecords(records, terms);
  const remembered = cacheOf(releases);
  const events = new TrustEvents(parts.trust, notebook);
  const catalog = new ProviderCatalog({
    origins: new Map([[hostname, origin]]),
    versions: cacheOf(versionRecords(records, providerVersionNaming)),
    ...{ releases: remembered, events, notFound: freshness.notFound },
    onVanished: () => undefined,
    onMalformed: () => undefined,
  });
  const admission = new Admission(parts.trust, notebook, rules);
  const settlements = new Settlements({
    ...{ releases: remembered, records: releases, events, notebook },
  });
  const refused = new RefusedVersions({
    ...{ records, clock, changes, onUnwritten },
  });
  records.listen((changed) => {
    changes.noteRecords(changed);
    refused.forget();
  });
  const standings = new Standings({
    ...{ catalog, settlements, events, refused, clock, offline },
    patience: 5_000,
  });
  // No hashes of packages are known.
  const noHashes = { revision: 0, find: () => Promise.resolve(undefined) };
  const providers = new ProviderMirror({
    ...{ catalog, admission, standings, archives, offline, alarms },
    ...{ changes, clock, releases, freshness: freshness.versions },
    wrong: makeWrongArchives(records, clock),
    hashes: noHashes as unknown as PackageHashes,
  });
  return {
    ...{ events, catalog, admission, settlements, refused, providers },
  };
}

const providers = new Map<string, ProviderAddress>();
const releases = new Map<string, ReleaseAddress>();

/** The address of a provider: the same object for the same name, as the protocols have it. */
export function providerOf(type: string): ProviderAddress {
  const provider =
    providers.get(type) ?? providerAddress(hostname, namespace, type);
  providers.set(type, provider);
  return provider;
}

/** The same of a release. */
export function releaseOf(type: string, version: string): ReleaseAddress {
  const name = `${type} ${version}`;
  const address = releases.get(name) ?? {
    ...{ provider: providerOf(type), version: parseVersion(version) },
  };
  releases.set(name, address);
  return address;
}
