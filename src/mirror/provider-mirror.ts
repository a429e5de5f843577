import { formatArchiveHash } from "../address/hash.ts";
import type { Hostname } from "../address/hostname.ts";
import { formatPlatform, type Platform } from "../address/platform.ts";
import {
  formatProviderAddress,
  type ProviderAddress,
} from "../address/provider-address.ts";
import { compareVersions, type Version } from "../address/version.ts";
import { NotFound, NotStored, OriginNotServed } from "../errors.ts";
import type { OriginVersions } from "../origin/registry-answers.ts";
import type { Answer } from "./answer.ts";
import type { ArchiveCache, OpenArchive } from "./archive-cache.ts";
import type { MetadataCache } from "./metadata-cache.ts";
import type { PackageHashes } from "./package-hashes.ts";
import {
  fetchRelease,
  openPackage,
  type ReleaseOrigin,
} from "./release-fetch.ts";
import {
  formatRelease,
  type Release,
  type ReleaseAddress,
  type ReleasePackage,
} from "./release.ts";

/** One platform's archive as clients are told of it; `hashes` has `zh:` always and `h1:` when known. */
export interface MirroredPackage {
  readonly platform: Platform;
  readonly filename: string;
  readonly hashes: readonly string[];
}

export interface ProviderMirrorParts {
  readonly origins: ReadonlyMap<Hostname, ReleaseOrigin>;
  readonly versions: MetadataCache<ProviderAddress, OriginVersions>;
  readonly releases: MetadataCache<ReleaseAddress, Release>;
  readonly archives: ArchiveCache;
  readonly hashes: PackageHashes;
  readonly offline: boolean;
  /** Unlisted hostnames are answered so that clients go on to their next installation method. */
  readonly fallThrough: boolean;
  /** Versions of which something is kept, for a mirror that asks no origin. */
  readonly listKept: (provider: ProviderAddress) => Promise<readonly Version[]>;
  /** The registry reports another h1 than the archive has. */
  readonly onHashConflict: (
    filename: string,
    reported: readonly string[],
    computed: string,
  ) => void;
}

/** The read-through core: what clients of a network mirror ask for. */
export class ProviderMirror {
  readonly #parts: ProviderMirrorParts;

  constructor(parts: ProviderMirrorParts) {
    this.#parts = parts;
  }

  /** Newest first. Throws NotFound, OriginNotServed and the origin's failures. */
  async listVersions(
    provider: ProviderAddress,
  ): Promise<Answer<readonly Version[]>> {
    const origin = this.#originOf(provider);
    const { versions, offline } = this.#parts;
    if (offline) return this.#listStoredVersions(provider);
    const answer = await versions.get(provider, (_, signal) =>
      origin.registry.listVersions(provider, signal),
    );
    const listed = answer.value.versions.map(({ version }) => version);
    return { ...answer, value: newestFirst(listed) };
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
    const origin = this.#originOf(address.provider);
    if (this.#parts.offline && (await this.findSize(found)) === undefined)
      throw new NotStored(found.filename);
    return this.#parts.archives.open(found.sha256, {
      name: found.filename,
      hostname: address.provider.hostname,
      open: (signal) => openPackage(origin, address, found, signal),
    });
  }

  /** Bytes, when they are known without asking the origin. */
  async findSize({ sha256 }: ReleasePackage): Promise<number | undefined> {
    return this.#parts.archives.findSize(sha256);
  }

  /** A verified release, from memory, its record or the origin. */
  async findRelease(address: ReleaseAddress): Promise<Answer<Release>> {
    const origin = this.#originOf(address.provider);
    return this.#parts.releases.get(address, async (known, signal) => {
      const offered = await this.#offeredPlatforms(address);
      return fetchRelease(origin, address, offered, known, signal);
    });
  }

  /** What the origin's list says; undefined platforms are unknown ones, a missing version is absence. */
  async #offeredPlatforms({
    provider,
    version,
  }: ReleaseAddress): Promise<readonly Platform[] | undefined> {
    const { registry } = this.#originOf(provider);
    const answer = await this.#parts.versions.get(provider, (_, signal) =>
      registry.listVersions(provider, signal),
    );
    const listed = answer.value.versions.find(
      (candidate) => candidate.version === version,
    );
    if (listed === undefined)
      throw new NotFound(formatRelease({ provider, version }));
    return listed.platforms;
  }

  async #describe(
    release: Release,
    name: string,
    { platform, filename, sha256 }: ReleasePackage,
  ): Promise<MirroredPackage> {
    const reported = release.reported.get(name)?.packageHashes ?? [];
    const computed = await this.#parts.hashes.find(sha256);
    if (computed !== undefined && reported.some((hash) => hash !== computed))
      this.#parts.onHashConflict(filename, reported, computed);
    const packageHashes = computed === undefined ? reported : [computed];
    const hashes = [...packageHashes, formatArchiveHash(sha256)];
    return { platform, filename, hashes };
  }

  async #listStoredVersions(
    provider: ProviderAddress,
  ): Promise<Answer<readonly Version[]>> {
    const kept = await this.#parts.listKept(provider);
    const stored = await Promise.all(
      kept.map((version) => this.#isStored({ provider, version })),
    );
    const value = newestFirst(kept.filter((_, index) => stored[index]));
    if (value.length === 0)
      throw new NotStored(formatProviderAddress(provider));
    return { value, outcome: "hit", age: 0, originTime: 0 };
  }

  async #isStored(address: ReleaseAddress): Promise<boolean> {
    const { value } = await this.findRelease(address);
    const sizes = await Promise.all(
      [...value.packages.values()].map((found) => this.findSize(found)),
    );
    return sizes.some((size) => size !== undefined);
  }

  #originOf({ hostname }: ProviderAddress): ReleaseOrigin {
    const origin = this.#parts.origins.get(hostname);
    if (origin === undefined)
      throw new OriginNotServed(hostname, this.#parts.fallThrough);
    return origin;
  }
}

function newestFirst(versions: readonly Version[]): readonly Version[] {
  return versions.toSorted((a, b) => compareVersions(b, a));
}
