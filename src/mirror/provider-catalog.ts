import type { Hostname } from "../address/hostname.ts";
import type { Platform } from "../address/platform.ts";
import type { ProviderAddress } from "../address/provider-address.ts";
import type { Version } from "../address/version.ts";
import { NotFound, OriginNotServed } from "../errors.ts";
import type { Answer } from "./answer.ts";
import type { FetchValue, MetadataCache } from "./metadata-cache.ts";
import type { ReleaseHistory } from "./release-history.ts";
import { fetchRelease, type ReleaseOrigin } from "./release-fetch.ts";
import { formatRelease, type Release, type ReleaseAddress } from "./release.ts";
import {
  findVanished,
  mergeVersions,
  type VersionList,
} from "./version-list.ts";

export interface ProviderCatalogParts {
  readonly origins: ReadonlyMap<Hostname, ReleaseOrigin>;
  readonly versions: MetadataCache<ProviderAddress, VersionList>;
  readonly releases: MetadataCache<ReleaseAddress, Release>;
  readonly history: ReleaseHistory;
  /** Unlisted hostnames are answered so that clients go on to their next installation method. */
  readonly fallThrough: boolean;
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

  /** Every version that the origin listed at any time. */
  async listVersions(provider: ProviderAddress): Promise<Answer<VersionList>> {
    const origin = this.originOf(provider);
    return this.#parts.versions.get(provider, async (known, signal) => {
      const answer = await origin.registry
        .listVersions(provider, signal)
        .catch((error: unknown) => emptyIfGone(known, error));
      const list = mergeVersions(known, answer, origin.clock.now());
      this.#noteVanished(provider, known, list);
      return list;
    });
  }

  /** A verified release, from memory, its record or the origin. */
  async findRelease(address: ReleaseAddress): Promise<Answer<Release>> {
    const { history, releases } = this.#parts;
    const origin = this.originOf(address.provider);
    const askNow = await history.awaitsReplacement(address);
    const ask: FetchValue<Release> = async (known, signal) => {
      const offered = await this.#offeredPlatforms(address);
      const continuity = await fetchRelease(
        origin,
        address,
        offered,
        known,
        await history.approvalsOf(address),
        signal,
      );
      await history.note(address, known, continuity);
      return continuity.release;
    };
    return releases.get(address, ask, { askNow });
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

  /** Undefined platforms are unknown ones; a version that was never listed is absent. */
  async #offeredPlatforms({
    provider,
    version,
  }: ReleaseAddress): Promise<readonly Platform[] | undefined> {
    const answer = await this.listVersions(provider);
    const listed = answer.value.versions.get(version);
    if (listed === undefined)
      throw new NotFound(formatRelease({ provider, version }));
    return listed.platforms;
  }

  #noteVanished(
    provider: ProviderAddress,
    known: VersionList | undefined,
    list: VersionList,
  ): void {
    const vanished = known === undefined ? [] : findVanished(known, list);
    if (vanished.length > 0)
      this.#parts.onVanished(provider, vanished, list.versions.size);
  }
}

/** A provider that was known and is gone has no versions any more; one that was never known is absent. */
function emptyIfGone(known: VersionList | undefined, error: unknown) {
  if (known !== undefined && error instanceof NotFound)
    return { versions: [], warnings: [] };
  throw error;
}
