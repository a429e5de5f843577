import type { Hostname } from "../../address/hostname.ts";
import type { Platform } from "../../address/platform.ts";
import {
  formatProviderAddress,
  type ProviderAddress,
} from "../../address/provider-address.ts";
import type { Version } from "../../address/version.ts";
import {
  ChecksumConflict,
  NetworkMirrorUnsigned,
  NotFound,
  OriginNotServed,
  ProvenderError,
  RecordUnreadable,
} from "../../errors/index.ts";
import { asHit, type Answer } from "../cache/answer.ts";
import type { MetadataCache } from "../cache/metadata-cache.ts";
import {
  awaitsReplacement,
  standingOf,
  type ReleaseHistory,
} from "../trust/release-history.ts";
import type { ProviderRequest, ReleaseRequest } from "../trust/request.ts";
import {
  begin,
  type Continuity,
  type Standing,
} from "../releases/continuity.ts";
import {
  asOffer,
  believeOffer,
  confirmRelease,
  continueRelease,
  type ReleaseOrigin,
} from "../releases/fetch.ts";
import {
  claimFirst,
  type FirstContentParts,
} from "../releases/first-content.ts";
import type { ReleaseRecords } from "../releases/records.ts";
import {
  formatRelease,
  type Release,
  type ReleaseAddress,
} from "../releases/release.ts";
import type { VersionList } from "../releases/version-list.ts";
import { refreshVersions } from "../releases/version-list-changes.ts";

interface ProviderCatalogParts extends FirstContentParts {
  readonly origins: ReadonlyMap<Hostname, ReleaseOrigin>;
  readonly versions: MetadataCache<ProviderAddress, VersionList>;
  readonly releases: MetadataCache<ReleaseAddress, Release>;
  readonly history: ReleaseHistory;
  readonly records: FirstContentParts["records"] &
    Pick<ReleaseRecords, "describe" | "readFirstDigests">;
  /** Milliseconds for which a version that the origin did not list is taken to be absent. */
  readonly notFound: number;
  /** Unlisted hostnames are answered so that clients go on to their next installation method. */
  readonly fallThrough: boolean;
  /** These were listed until now, and are more than are withdrawn now and then. */
  readonly onVanished: (
    provider: ProviderAddress,
    versions: readonly Version[],
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
  listVersions(
    { provider, origin }: ProviderRequest,
    maxAge = origin.freshFor,
  ): Answer<VersionList> | Promise<Answer<VersionList>> {
    const name = formatProviderAddress(provider);
    expectSignatures(origin, name);
    return this.#parts.versions.get(
      provider,
      (known, signal) => {
        const asked = origin.registry.listVersions(provider, signal);
        return refreshVersions(name, known, asked, origin, (versions) =>
          this.#parts.onVanished(provider, versions),
        );
      },
      { maxAge },
    );
  }

  /** A verified release, from memory, its record or the origin; `anew`: not without the origin. */
  async findRelease(
    request: ReleaseRequest,
    { anew = false }: { readonly anew?: boolean } = {},
  ): Promise<Answer<Release>> {
    const { address, entry } = request;
    const asksNow = anew || awaitsReplacement(entry.trust, address);
    return this.#parts.releases.get(
      address,
      (known, signal) => this.#askRelease(request, known, signal),
      asksNow ? { maxAge: 0 } : {},
    );
  }

  /** Like findRelease, but what is known is good enough however old: without an operator's word a release never changes. */
  async recallRelease(request: ReleaseRequest): Promise<Answer<Release>> {
    const { address, entry } = request;
    if (!awaitsReplacement(entry.trust, address)) {
      const value = await this.peekRelease(address).catch(noneIfRefused);
      if (value !== undefined) return asHit(value);
    }
    return this.findRelease(request);
  }

  /** What is known of a release without asking the origin. */
  async peekRelease(address: ReleaseAddress): Promise<Release | undefined> {
    return this.#parts.releases.peek(address);
  }

  /** What is known of a provider's versions without asking the origin. */
  peekVersions(
    provider: ProviderAddress,
  ): VersionList | undefined | Promise<VersionList | undefined> {
    return this.#parts.versions.peek(provider);
  }

  /** What happened to the release is on disk before anybody gets it. */
  async #askRelease(
    request: ReleaseRequest,
    known: Release | undefined,
    signal: AbortSignal,
  ): Promise<Release> {
    const { address, entry } = request;
    const offered = await this.#offeredPlatforms(request);
    const standing = standingOf(entry.trust, address);
    const asked = this.#fetch(request, offered, known, standing, signal);
    const continuity = await asked.catch((error: unknown) =>
      keepIfGone(known, error),
    );
    if (known === undefined) {
      await this.#expectFirst(request, continuity.release);
      const { release } = continuity;
      const now = request.origin.clock.now();
      const first = await claimFirst(this.#parts, request, release, now);
      if (first !== undefined) return this.#askRelease(request, first, signal);
    }
    await this.#parts.history.note(request, known, continuity);
    if (continuity.fallen !== undefined) throw continuity.fallen;
    return continuity.release;
  }

  /**
   * One package lookup and the signed checksums give the digests of all platforms.
   * When the lookup says what is known already, nothing more is asked.
   */
  async #fetch(
    { address, origin }: ReleaseRequest,
    offered: readonly Platform[] | undefined,
    known: Release | undefined,
    standing: Standing,
    signal: AbortSignal,
  ): Promise<Continuity> {
    const { provider, version } = address;
    const { registry } = origin;
    const found = await registry.findAnyPackage(
      provider,
      version,
      offered,
      signal,
    );
    const confirmed = known && confirmRelease(known, found, offered, origin);
    if (confirmed !== undefined) return confirmed;
    const believed = registry
      .fetchChecksums(found, signal, provider)
      .then((sums) => believeOffer(origin, address, found, sums, offered));
    if (known === undefined) {
      const release = await believed;
      const recorded = await this.#parts.records.describe(address);
      return begin(release, standing, recorded?.signedBy);
    }
    const offer = await asOffer(believed);
    const first = await this.#parts.records.readFirstDigests(address);
    const before = { standing, first };
    return continueRelease(origin, address, known, offer, found, before);
  }

  /** Also a release that is refused today had first digests. Throws ChecksumConflict when others are offered and nobody approved them. */
  async #expectFirst(request: ReleaseRequest, release: Release): Promise<void> {
    const { history, records } = this.#parts;
    const first = await records.readFirstDigests(request.address);
    const found = await history.noteContradiction(request, release, first);
    if (found === undefined) return;
    const { filename, before, now } = found;
    throw new ChecksumConflict(filename, before, now, "the registry");
  }

  /**
   * Undefined platforms are unknown ones. A version that the list does not have
   * may have come out since: the origin is asked once more, however many ask,
   * and not again for as long as an absence is remembered. A version is absent
   * when the origin lately confirmed a list without it.
   */
  async #offeredPlatforms(
    request: ReleaseRequest,
  ): Promise<readonly Platform[] | undefined> {
    const { address } = request;
    const known = await this.listVersions(request);
    const isKnown = known.value.versions.has(address.version);
    const answer = isKnown
      ? known
      : await this.listVersions(request, this.#parts.notFound);
    const listed = answer.value.versions.get(address.version);
    if (listed === undefined && answer.outcome !== "stale")
      throw new NotFound(formatRelease(address));
    return listed?.platforms;
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

/** A release that was believed outlives its removal, as far as it is stored. */
function keepIfGone(known: Release | undefined, error: unknown): Continuity {
  if (known !== undefined && error instanceof NotFound)
    return {
      release: { ...known, places: new Map() },
      change: { kind: "none" },
    };
  throw error;
}

/** What may not be believed any more has to be asked for. */
function noneIfRefused(error: unknown): undefined {
  if (!(error instanceof ProvenderError) || error instanceof RecordUnreadable)
    throw error;
}
