import { LRUCache } from "lru-cache";
import type { Hostname } from "../../address/hostname.ts";
import type { Platform } from "../../address/platform.ts";
import {
  formatProviderAddress,
  type ProviderAddress,
} from "../../address/provider-address.ts";
import type { Version } from "../../address/version.ts";
import { failure, isFailure, ProvenderError } from "../../errors/index.ts";
import type { OriginChecksums } from "../../origin/registries/provider-origin.ts";
import type { OriginPackage } from "../../origin/registries/registry-answers.ts";
import type { Answer, MetadataCache, Within } from "../cache/metadata-cache.ts";
import {
  digestOf,
  type ReleaseOrigin,
  type KnownRelease,
  asRefusal,
  isConfirmed,
  refreshKnown,
  rejudge,
  type StoredEvidence,
  takeOffer,
  verifyOffer,
} from "../releases/evidence.ts";
import { formatRelease, type ReleaseAddress } from "../releases/release.ts";
import { refreshVersions, type VersionList } from "../versions/version-list.ts";
import { listApproved } from "../../trust/decisions.ts";
import type { TrustEvents } from "../trust/trust-events.ts";
import type { ProviderRequest, ReleaseRequest } from "../trust/admission.ts";

interface ProviderCatalogParts {
  readonly origins: ReadonlyMap<Hostname, ReleaseOrigin>;
  readonly versions: MetadataCache<ProviderAddress, VersionList>;
  readonly releases: MetadataCache<ReleaseAddress, KnownRelease>;
  readonly events: TrustEvents;
  /** Milliseconds for which a version that the origin did not list is taken to be absent. */
  readonly notFound: number;
  /** Reports versions that were listed until now, when they are more than are withdrawn now and then. */
  readonly onVanished: (
    provider: ProviderAddress,
    versions: readonly Version[],
  ) => void;
  /** Reports parts of a list that were left out because they are not as the protocol has them. */
  readonly onMalformed: (provider: ProviderAddress, parts: number) => void;
}

/** Releases in memory; bounded because clients may request any. */
const mostRemembered = 1_000;

/** Everything known of providers and releases: verified, with its history, not yet admitted. */
export class ProviderCatalog {
  /** What is known without asking an origin. */
  readonly versions: ProviderCatalogParts["versions"];
  readonly releases: ProviderCatalogParts["releases"];
  readonly #parts: ProviderCatalogParts;
  /** Refused offers that were reported last, by release. */
  readonly #refusedOffers = new LRUCache<string, string>({
    max: mostRemembered,
  });

  constructor(parts: ProviderCatalogParts) {
    this.#parts = parts;
    this.versions = parts.versions;
    this.releases = parts.releases;
  }

  originOf({ hostname }: ProviderAddress): ReleaseOrigin {
    const origin = this.#parts.origins.get(hostname);
    if (origin === undefined) throw failure("origin-not-served", hostname);
    return origin;
  }

  /**
   * Lists every version that the origin ever listed. With `maxAge` its list is
   * at most so many milliseconds old. Folders are read at once, so that they are always waited for.
   */
  async listVersions(
    { provider, origin }: ProviderRequest,
    { maxAge = origin.freshFor, mayBeOld }: Within = {},
  ): Promise<Answer<VersionList>> {
    const name = formatProviderAddress(provider);
    return this.versions.get(
      provider,
      (known, signal) => {
        const ask = async () => {
          const answer = await origin.registry.listVersions(provider, signal);
          const { malformed = 0 } = answer;
          if (malformed > 0) this.#parts.onMalformed(provider, malformed);
          return answer;
        };
        return refreshVersions(name, known, ask(), origin, (versions) =>
          this.#parts.onVanished(provider, versions),
        );
      },
      { maxAge, mayBeOld: mayBeOld === true && origin.freshFor === undefined },
    );
  }

  async findRelease(
    request: ReleaseRequest,
    within: Within = {},
  ): Promise<Answer<KnownRelease>> {
    return this.releases.get(
      request.address,
      (known, signal) => this.#askRelease(request, known, within, signal),
      within,
    );
  }

  /**
   * Fetches the digests of all platforms with one package look-up and the
   * signed checksums. If the look-up brings no news, no further request is
   * sent.
   */
  async #askRelease(
    request: ReleaseRequest,
    known: KnownRelease | undefined,
    within: Within,
    signal: AbortSignal,
  ): Promise<KnownRelease> {
    const { address, origin } = request;
    const { provider, version } = address;
    try {
      const platforms = await this.#offeredPlatforms(request, within);
      const found = await origin.registry.findPackage(
        ...([provider, version, platforms, signal] as const),
      );
      return known !== undefined && isConfirmed(known, found, platforms)
        ? refreshKnown(known, found)
        : await this.#takeOffer(request, known, found, platforms, signal);
    } catch (error) {
      // A release that was admitted outlives its removal, as far as it is stored.
      const keeps = known !== undefined && isAdmitted(request, known);
      if (keeps && isFailure(error, "not-found"))
        return { ...known, places: new Map() };
      throw error;
    }
  }

  async #takeOffer(
    request: ReleaseRequest,
    known: KnownRelease | undefined,
    found: OriginPackage,
    platforms: readonly Platform[] | undefined,
    signal: AbortSignal,
  ): Promise<KnownRelease> {
    const { address, origin } = request;
    const { registry } = origin;
    let fetched: OriginChecksums | undefined;
    let offer: StoredEvidence | ProvenderError;
    try {
      fetched = await registry.fetchChecksums(found, signal);
      offer = await verifyOffer(origin, address, found, fetched);
    } catch (error) {
      offer = asRefusal(error);
    }
    const judged = known && (await rejudge(known, address, found, origin));
    if (!(offer instanceof ProvenderError)) {
      this.#refusedOffers.delete(formatRelease(address));
      return takeOffer(judged, offer, found, platforms);
    }
    // What the registry takes back is noted, also of what was not admitted: it may be offered again without that key.
    const isKept =
      judged && (isAdmitted(request, judged) || hasLost(known, judged));
    if (!isKept) throw offer;
    if (!isFailure(offer, "not-found"))
      await this.#noteRefused(address, judged, offer, fetched?.document);
    return { ...judged, places: new Map() };
  }

  /** Reports each refused offer of another document once; a signature that no longer holds over a known one is not another content. */
  async #noteRefused(
    address: ReleaseAddress,
    { trust }: KnownRelease,
    refused: ProvenderError,
    document: Uint8Array | undefined,
  ): Promise<void> {
    const digest = document && digestOf(document);
    const isKnown =
      isFailure(refused, "signature-refused") &&
      trust.evidence.some((one) => one.sha256sums === digest);
    const name = formatRelease(address);
    const offered = `${digest} ${refused.message}`;
    if (isKnown || this.#refusedOffers.get(name) === offered) return;
    await this.#parts.events.noteRefusedOffer(address, refused);
    this.#refusedOffers.set(name, offered);
  }

  /**
   * Undefined platforms are unknown ones. A version that the list does not have
   * may have come out since: the origin is asked once more, however many ask,
   * and not again for as long as an absence is remembered. A version is absent
   * when the origin lately confirmed a list without it.
   */
  async #offeredPlatforms(
    request: ReleaseRequest,
    { absentFor = Infinity }: Within,
  ): Promise<readonly Platform[] | undefined> {
    const { address } = request;
    const known = await this.listVersions(request);
    const isKnown = known.value.versions.has(address.version);
    const maxAge = Math.min(absentFor, this.#parts.notFound);
    const answer = isKnown
      ? known
      : await this.listVersions(request, { maxAge });
    const listed = answer.value.versions.get(address.version);
    if (listed === undefined && answer.outcome !== "stale")
      throw failure("not-found", formatRelease(address));
    return listed?.platforms;
  }
}

/** True where keys of today took evidence away. */
function hasLost({ trust: before }: KnownRelease, { trust }: KnownRelease) {
  return trust.evidence.some(
    ({ isGood }, at) => !isGood && before.evidence[at]?.isGood === true,
  );
}

/** True for a release that is pinned, or of which an operator approved a content. */
export function isAdmitted(
  { address: { provider, version }, entry }: ReleaseRequest,
  { trust: { pinned, evidence } }: KnownRelease,
): boolean {
  const name = { type: provider.type, version };
  const approved = listApproved(entry.trust.decisions, name);
  return (
    pinned !== undefined ||
    evidence.some(({ sha256sums }) => approved.includes(sha256sums))
  );
}
