import type { Hostname } from "../../address/hostname.ts";
import type { Platform } from "../../address/platform.ts";
import {
  formatProviderAddress,
  type ProviderAddress,
} from "../../address/provider-address.ts";
import type { Version } from "../../address/version.ts";
import type { Sha256 } from "../../address/hash.ts";
import {
  ChecksumConflict,
  NetworkMirrorUnsigned,
  NotFound,
  OriginNotServed,
  ProvenderError,
  RecordUnreadable,
} from "../../errors/index.ts";
import type { Answer } from "../cache/answer.ts";
import type { FetchValue, MetadataCache } from "../cache/metadata-cache.ts";
import type { ReleaseHistory } from "../trust/release-history.ts";
import {
  documentDigest,
  findContradiction,
  type Continuity,
  type Standing,
} from "../releases/continuity.ts";
import { fetchRelease, type ReleaseOrigin } from "../releases/fetch.ts";
import {
  formatRelease,
  type Release,
  type ReleaseAddress,
} from "../releases/release.ts";
import {
  findVanished,
  mergeVersions,
  type VersionList,
} from "../releases/version-list.ts";

export interface ProviderCatalogParts {
  readonly origins: ReadonlyMap<Hostname, ReleaseOrigin>;
  readonly versions: MetadataCache<ProviderAddress, VersionList>;
  readonly releases: MetadataCache<ReleaseAddress, Release>;
  readonly history: ReleaseHistory;
  /** By file name, of a release that was believed once, also when its signature would be refused today. */
  readonly readFirstDigests: (
    address: ReleaseAddress,
  ) => Promise<ReadonlyMap<string, Sha256>>;
  /** Makes this the first content of a release; returns what another process saw first, if one did. */
  readonly claim: (
    address: ReleaseAddress,
    release: Release,
  ) => Promise<Release | undefined>;
  /** Milliseconds for which a version that the origin did not list is taken to be absent. */
  readonly notFound: number;
  /** Unlisted hostnames are answered so that clients go on to their next installation method. */
  readonly fallThrough: boolean;
  /** `of` so many that were listed until now. */
  readonly onVanished: (
    provider: ProviderAddress,
    versions: readonly Version[],
    of: number,
  ) => void;
}

/** What is known of providers and releases: verified, with its history, not yet subject to policy. */
export class ProviderCatalog {
  readonly #parts: ProviderCatalogParts;

  constructor(parts: ProviderCatalogParts) {
    this.#parts = parts;
  }

  /** Throws OriginNotServed for hostnames that the configuration does not list. */
  originOf({ hostname }: ProviderAddress): ReleaseOrigin {
    const origin = this.#parts.origins.get(hostname);
    if (origin === undefined)
      throw new OriginNotServed(hostname, this.#parts.fallThrough);
    return origin;
  }

  /** Every version that the origin listed at any time; with `maxAge` as it said so few milliseconds ago. Throws NetworkMirrorUnsigned. */
  async listVersions(
    provider: ProviderAddress,
    maxAge = Infinity,
  ): Promise<Answer<VersionList>> {
    const origin = this.originOf(provider);
    expectSignatures(origin, formatProviderAddress(provider));
    const ask: FetchValue<VersionList> = async (known, signal) => {
      const answer = await origin.registry
        .listVersions(provider, signal)
        .catch((error: unknown) => emptyIfGone(known, error));
      const list = mergeVersions(known, answer, origin.clock.now());
      this.#noteVanished(provider, known, list);
      return list;
    };
    return this.#parts.versions.get(provider, ask, { maxAge });
  }

  /** A verified release, from memory, its record or the origin; `anew`: not without the origin. */
  async findRelease(
    address: ReleaseAddress,
    { anew = false }: { readonly anew?: boolean } = {},
  ): Promise<Answer<Release>> {
    const { history, releases } = this.#parts;
    const origin = this.originOf(address.provider);
    const askNow = anew || (await history.awaitsReplacement(address));
    const ask: FetchValue<Release> = async (known, signal) => {
      const offered = await this.#offeredPlatforms(address);
      const standing = await history.recall(address);
      const continuity = await fetchRelease(
        origin,
        address,
        offered,
        known,
        standing,
        signal,
      ).catch((error: unknown) => keepIfGone(known, error));
      if (known === undefined) {
        await this.#expectFirst(address, continuity, standing);
        const first = await this.#parts.claim(address, continuity.release);
        if (first !== undefined) return ask(first, signal);
      }
      await history.note(address, known, continuity);
      if (continuity.fallen !== undefined) throw continuity.fallen;
      return continuity.release;
    };
    return releases.get(address, ask, askNow ? { maxAge: 0 } : {});
  }

  /** Also a release that is refused today had first digests. Throws ChecksumConflict when others are offered and nobody approved them. */
  async #expectFirst(
    address: ReleaseAddress,
    { release }: Continuity,
    { isApproved }: Standing,
  ): Promise<void> {
    const { history, readFirstDigests } = this.#parts;
    const offered = documentDigest(release);
    if (isApproved(offered)) return;
    const first = await readFirstDigests(address);
    const found = findContradiction(first, release);
    if (found === undefined) return;
    const fingerprint = release.checksums.signedBy;
    const change = { kind: "replaced", offered, fingerprint } as const;
    await history.note(address, release, { release, change });
    const { filename, before, now } = found;
    throw new ChecksumConflict(filename, before, now, "the registry");
  }

  /** Like findRelease, but what is known is good enough however old: without an operator's word a release never changes. */
  async recallRelease(address: ReleaseAddress): Promise<Release> {
    if (!(await this.#parts.history.awaitsReplacement(address))) {
      const known = await this.peekRelease(address).catch(noneIfRefused);
      if (known !== undefined) return known;
    }
    return (await this.findRelease(address)).value;
  }

  /** What is known of a release without asking the origin. */
  async peekRelease(address: ReleaseAddress): Promise<Release | undefined> {
    return this.#parts.releases.peek(address);
  }

  /** What is known of a provider's versions without asking the origin. */
  async peekVersions(
    provider: ProviderAddress,
  ): Promise<VersionList | undefined> {
    return this.#parts.versions.peek(provider);
  }

  /**
   * Undefined platforms are unknown ones. A version that the list does not have
   * may have come out since: the origin is asked once more, however many ask,
   * and not again for as long as an absence is remembered. Absent is what a
   * list has not that the origin confirmed lately.
   */
  async #offeredPlatforms({
    provider,
    version,
  }: ReleaseAddress): Promise<readonly Platform[] | undefined> {
    const known = await this.listVersions(provider);
    const isKnown = known.value.versions.has(version);
    const answer = isKnown
      ? known
      : await this.listVersions(provider, this.#parts.notFound);
    const listed = answer.value.versions.get(version);
    if (listed === undefined && answer.outcome !== "stale")
      throw new NotFound(formatRelease({ provider, version }));
    return listed?.platforms;
  }

  #noteVanished(
    provider: ProviderAddress,
    known: VersionList | undefined,
    list: VersionList,
  ): void {
    if (known === undefined) return;
    const vanished = findVanished(known, list);
    if (vanished.length === 0) return;
    const before = known.versions.values().filter(({ listed }) => listed);
    this.#parts.onVanished(provider, vanished, [...before].length);
  }
}

/** What could not be served must not be listed. */
function expectSignatures(
  { registry, policy }: ReleaseOrigin,
  subject: string,
): void {
  if (registry.source === "network-mirror" && policy.signatures === "required")
    throw new NetworkMirrorUnsigned(subject);
}

/** A provider that was known and is gone has no versions any more; one that was never known is absent. */
function emptyIfGone(known: VersionList | undefined, error: unknown) {
  if (known !== undefined && error instanceof NotFound)
    return { versions: [], warnings: [] };
  throw error;
}

/** A release that was believed outlives its removal, as far as it is stored. */
function keepIfGone(known: Release | undefined, error: unknown): Continuity {
  if (known !== undefined && error instanceof NotFound)
    return { release: known, change: { kind: "none" } };
  throw error;
}

/** What may not be believed any more has to be asked for. */
function noneIfRefused(error: unknown): undefined {
  if (!(error instanceof ProvenderError) || error instanceof RecordUnreadable)
    throw error;
}
