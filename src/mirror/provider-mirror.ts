import { formatArchiveHash } from "../address/hash.ts";
import { formatPlatform, type Platform } from "../address/platform.ts";
import {
  formatProviderAddress,
  type ProviderAddress,
} from "../address/provider-address.ts";
import { isPrerelease } from "../address/version-constraint.ts";
import { compareVersions, type Version } from "../address/version.ts";
import { NotFound, NothingAdmitted, NotStored } from "../errors.ts";
import type { Alarms } from "../telemetry/alarms.ts";
import type { Admission } from "./admission.ts";
import type { Answer } from "./answer.ts";
import type { ArchiveCache, OpenArchive } from "./archive-cache.ts";
import type { PackageHashes } from "./package-hashes.ts";
import type { ProviderCatalog } from "./provider-catalog.ts";
import { openPackage } from "./release-fetch.ts";
import {
  formatRelease,
  type Release,
  type ReleaseAddress,
  type ReleasePackage,
} from "./release.ts";
import { limitVersions, type VersionList } from "./version-list.ts";
import { VersionListing } from "./version-listing.ts";

/** One platform's archive as clients are told of it; `hashes` has `zh:` always and `h1:` when known. */
export interface MirroredPackage {
  readonly platform: Platform;
  readonly filename: string;
  readonly hashes: readonly string[];
}

export interface ProviderMirrorParts {
  readonly catalog: ProviderCatalog;
  readonly admission: Admission;
  readonly archives: ArchiveCache;
  readonly hashes: PackageHashes;
  readonly offline: boolean;
  /** Versions of which something is kept, for a mirror that asks no origin. */
  readonly listKept: (provider: ProviderAddress) => Promise<readonly Version[]>;
  readonly listKeptProviders: (
    most: number,
  ) => Promise<readonly ProviderAddress[]>;
  readonly alarms: Alarms;
}

/** Milliseconds for a list of versions with all look-ups that it needs; clients give metadata 10 s. */
const listingTime = 7_000;

/** The read-through core: what clients of a network mirror ask for, as far as they may have it. */
export class ProviderMirror {
  readonly #parts: ProviderMirrorParts;
  readonly #listing: VersionListing;

  constructor(parts: ProviderMirrorParts) {
    this.#parts = parts;
    this.#listing = new VersionListing(parts.admission, {
      peek: (address) => parts.catalog.peekRelease(address),
      find: async (address) => (await parts.catalog.findRelease(address)).value,
      isStored: (address) => this.#isStored(address),
    });
  }

  /** Newest first. Throws NotFound, PolicyDenied, OriginNotServed and the origin's failures. */
  async listVersions(
    provider: ProviderAddress,
  ): Promise<Answer<readonly Version[]>> {
    const { catalog, admission, offline } = this.#parts;
    catalog.originOf(provider);
    admission.admitProvider(provider);
    const deadline = performance.now() + listingTime;
    const answer = offline
      ? await this.#listStored(provider)
      : await catalog.listVersions(provider);
    if (answer.outcome === "fetched") this.#learnKey(provider, answer.value);
    const value = await this.#listing.list(provider, answer.value, deadline);
    // An empty list would send clients on to their next installation method.
    if (value.length === 0 && answer.value.versions.size > 0)
      throw new NothingAdmitted(formatProviderAddress(provider));
    return { ...answer, value };
  }

  /** Up to `most` providers and the versions of which something is kept, newest first, whatever the rules say of them. */
  async listKept(most: number): Promise<
    readonly {
      readonly provider: ProviderAddress;
      readonly versions: readonly Version[];
    }[]
  > {
    const { listKept, listKeptProviders } = this.#parts;
    const providers = await listKeptProviders(most);
    return Promise.all(
      providers.map(async (provider) => {
        const versions = await listKept(provider);
        const newestFirst = versions.toSorted((a, b) => compareVersions(b, a));
        return { provider, versions: newestFirst };
      }),
    );
  }

  /** All platforms that were signed and are offered, by name; no archive is waited for. */
  async listPackages(
    address: ReleaseAddress,
  ): Promise<Answer<readonly MirroredPackage[]>> {
    const answer = await this.findRelease(address);
    const { packages } = answer.value;
    const names = [...packages.keys()].toSorted();
    const value = await Promise.all(
      names.flatMap((name) => {
        const found = packages.get(name);
        return found ? [this.#describe(answer.value, name, found)] : [];
      }),
    );
    return { ...answer, value };
  }

  /** The digest that was signed for a package; throws NotFound when none was. */
  async findPackage(
    address: ReleaseAddress,
    platform: Platform,
  ): Promise<Answer<ReleasePackage>> {
    const answer = await this.findRelease(address);
    const found = answer.value.packages.get(formatPlatform(platform));
    if (found === undefined)
      throw new NotFound(
        `${formatRelease(address)} for ${formatPlatform(platform)}`,
      );
    return { ...answer, value: found };
  }

  /** Starts or joins the download of what is not stored; the caller closes it. */
  async openArchive(
    address: ReleaseAddress,
    found: ReleasePackage,
  ): Promise<OpenArchive> {
    const { catalog, archives, offline } = this.#parts;
    const origin = catalog.originOf(address.provider);
    if (offline && (await this.findSize(found)) === undefined)
      throw new NotStored(found.filename);
    return archives.open(found.sha256, {
      name: found.filename,
      hostname: address.provider.hostname,
      open: (signal) => openPackage(origin, address, found, signal),
    });
  }

  /** Bytes, when they are known without asking the origin. */
  async findSize({ sha256 }: ReleasePackage): Promise<number | undefined> {
    return this.#parts.archives.findSize(sha256);
  }

  /** A verified release that clients may have; the rules are asked before the origin is. */
  async findRelease(address: ReleaseAddress): Promise<Answer<Release>> {
    const { catalog, admission } = this.#parts;
    catalog.originOf(address.provider);
    admission.admitVersion(address);
    const answer = await catalog.findRelease(address);
    const list = await catalog.peekVersions(address.provider);
    await admission.admitRelease(address, answer.value, list);
    return answer;
  }

  /** The first contact with a provider teaches its key, in the background, so that later releases can be held against it. */
  #learnKey(provider: ProviderAddress, list: VersionList): void {
    const newest = [...list.versions.keys()]
      .filter((version) => !isPrerelease(version))
      .toSorted(compareVersions)
      .at(-1);
    const isFirst = [...list.versions.values()].every(
      ({ appeared }) => appeared === undefined,
    );
    if (newest === undefined || !isFirst) return;
    void this.findRelease({ provider, version: newest }).catch(() => undefined);
  }

  async #describe(
    release: Release,
    name: string,
    { platform, filename, sha256 }: ReleasePackage,
  ): Promise<MirroredPackage> {
    const reported = release.reported.get(name)?.packageHashes ?? [];
    const computed = await this.#parts.hashes.find(sha256);
    if (computed !== undefined && reported.some((hash) => hash !== computed))
      this.#parts.alarms.raise("package-hash-conflict", {
        archive: filename,
        reported,
        computed,
      });
    const packageHashes = computed === undefined ? reported : [computed];
    const hashes = [...packageHashes, formatArchiveHash(sha256)];
    return { platform, filename, hashes };
  }

  /** The list of a mirror that asks nobody: what is stored, whatever the origin listed. */
  async #listStored(provider: ProviderAddress): Promise<Answer<VersionList>> {
    const { catalog, listKept } = this.#parts;
    const list = await catalog.peekVersions(provider);
    const kept = await listKept(provider);
    const stored = await Promise.all(
      kept.map((version) => this.#isStored({ provider, version })),
    );
    const present = new Set(kept.filter((_, index) => stored[index]));
    if (present.size === 0)
      throw new NotStored(formatProviderAddress(provider));
    return {
      value: limitVersions(list, present),
      outcome: "hit",
      age: 0,
      originTime: 0,
    };
  }

  async #isStored(address: ReleaseAddress): Promise<boolean> {
    const release = await this.#parts.catalog.peekRelease(address);
    const sizes = await Promise.all(
      [...(release?.packages.values() ?? [])].map((found) =>
        this.findSize(found),
      ),
    );
    return sizes.some((size) => size !== undefined);
  }
}
