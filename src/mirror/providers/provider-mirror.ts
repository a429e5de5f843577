import { formatPlatform, type Platform } from "../../address/platform.ts";
import {
  formatProviderAddress,
  type ProviderAddress,
} from "../../address/provider-address.ts";
import { newestFirst, type Version } from "../../address/version.ts";
import {
  NothingAdmitted,
  NotStored,
  ProvenderError,
} from "../../errors/index.ts";
import type { Alarms } from "../../telemetry/alarms.ts";
import type { Admission } from "../trust/admission.ts";
import type { Answer } from "../cache/answer.ts";
import type { ArchiveCache, OpenArchive } from "../cache/archive-cache.ts";
import { DescribedPackages } from "./described-packages.ts";
import { KeyLessons } from "./key-lesson.ts";
import type { LearntDigests } from "../releases/learnt-digests.ts";
import type { PackageHashes } from "../releases/package-hashes.ts";
import type { MirroredPackage } from "./package-description.ts";
import type { ProviderCatalog } from "./provider-catalog.ts";
import { openPackage } from "../releases/fetch.ts";
import {
  formatRelease,
  listUnnamed,
  packageOf,
  type Release,
  type ReleaseAddress,
  type ReleasePackage,
  type UnnamedPackage,
} from "../releases/release.ts";
import { limitVersions, type VersionList } from "../releases/version-list.ts";
import { VersionListing } from "./version-listing.ts";

interface ProviderMirrorParts {
  readonly catalog: ProviderCatalog;
  readonly admission: Admission;
  readonly archives: ArchiveCache;
  readonly hashes: PackageHashes;
  readonly offline: boolean;
  readonly learnt: LearntDigests;
  /** Versions of which something is kept, for a mirror that asks no origin. */
  readonly listKept: (provider: ProviderAddress) => Promise<readonly Version[]>;
  readonly listKeptProviders: (
    most: number,
  ) => Promise<readonly ProviderAddress[]>;
  readonly alarms: Alarms;
  /** Clients were told of a release. */
  readonly onDescribed: (address: ReleaseAddress, release: Release) => void;
}

/** Milliseconds for a list of versions with all look-ups that it needs; clients give metadata 10 s. */
const listingTime = 7_000;

/** The read-through core: what clients of a network mirror ask for, as far as they may have it. */
export class ProviderMirror {
  readonly #parts: ProviderMirrorParts;
  readonly #listing: VersionListing;
  readonly #lessons: KeyLessons;
  readonly #described: DescribedPackages;

  constructor(parts: ProviderMirrorParts) {
    this.#parts = parts;
    this.#lessons = new KeyLessons(parts);
    this.#described = new DescribedPackages(parts);
    this.#listing = new VersionListing(parts.admission, {
      peek: (address) => parts.catalog.peekRelease(address),
      find: async (address) => (await parts.catalog.findRelease(address)).value,
      isStored: async (address) =>
        (await this.#findStored(address)) === "stored",
      learnKey: (provider, list) =>
        this.#lessons.learn(provider, () => Promise.resolve(list)),
    });
  }

  /** Newest first. Throws NotFound, PolicyDenied, OriginNotServed and the origin's failures. */
  async listVersions(
    provider: ProviderAddress,
  ): Promise<Answer<readonly Version[]>> {
    const { catalog, admission, offline } = this.#parts;
    this.#expectServed(provider);
    admission.admitProvider(provider);
    const deadline = performance.now() + listingTime;
    if (offline) return this.#listStored(provider, deadline);
    const answer = await catalog.listVersions(provider);
    const value = await this.#listing.list(provider, answer.value, deadline);
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
        return { provider, versions: newestFirst(versions) };
      }),
    );
  }

  /** All platforms that were signed and are offered, by name; no archive is waited for. */
  async listPackages(
    address: ReleaseAddress,
  ): Promise<Answer<readonly MirroredPackage[]>> {
    const answer = await this.findRelease(address);
    return {
      ...answer,
      value: await this.describePackages(address, answer.value),
    };
  }

  /** With what only its content names; such an entry has no `zh:`. */
  async describePackages(
    address: ReleaseAddress,
    release: Release,
  ): Promise<readonly MirroredPackage[]> {
    this.#parts.onDescribed(address, release);
    return this.#described.of(address, release);
  }

  /** The digest that was signed for a package; throws NotFound when none was. An archive that only its content names is fetched for it. */
  async findPackage(
    address: ReleaseAddress,
    platform: Platform,
  ): Promise<Answer<ReleasePackage>> {
    const answer = await this.findRelease(address);
    const name = formatPlatform(platform);
    const unnamed = listUnnamed(address, answer.value).find(
      (one) => formatPlatform(one.platform) === name,
    );
    const release =
      unnamed === undefined
        ? answer.value
        : await this.#nameArchive(address, unnamed);
    return { ...answer, value: packageOf(address, release, platform) };
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
      namespace: address.provider.namespace,
      open: async (signal) => {
        // What is stored may be found damaged, and dropped.
        if (offline) throw new NotStored(found.filename);
        return openPackage(origin, address, found, signal);
      },
    });
  }

  /** Bytes, when they are known without asking the origin. */
  async findSize({ sha256 }: ReleasePackage): Promise<number | undefined> {
    return this.#parts.archives.findSize(sha256);
  }

  /** False where nobody signs, because the origin is a network mirror. Throws OriginNotServed. */
  isSigned(provider: ProviderAddress): boolean {
    return (
      this.#parts.catalog.originOf(provider).registry.source === "registry"
    );
  }

  /** What the origin said of a provider's versions, as far as it was asked. */
  async peekVersions(
    provider: ProviderAddress,
  ): Promise<VersionList | undefined> {
    return this.#parts.catalog.peekVersions(provider);
  }

  /** A verified release that clients may have; the rules are asked before the origin is. */
  async findRelease(address: ReleaseAddress): Promise<Answer<Release>> {
    const { catalog, admission } = this.#parts;
    this.#expectServed(address.provider);
    admission.admitVersion(address);
    const { provider } = address;
    const [answer, untaught] = await Promise.all([
      catalog.findRelease(address),
      this.#lessons.learn(provider, () => this.#findList(provider)),
    ]);
    const list = await catalog.peekVersions(provider);
    await admission.admitRelease(address, answer.value, list, untaught);
    return answer;
  }

  /** The same for a version that was named exactly; asks the origin only for what is not known at all. */
  async recallRelease(address: ReleaseAddress): Promise<Release> {
    const { catalog, admission } = this.#parts;
    this.#expectServed(address.provider);
    admission.admitVersion(address);
    const { provider } = address;
    const release = await catalog.recallRelease(address);
    const list = await catalog.peekVersions(provider);
    const untaught = await this.#lessons.learn(provider, () =>
      Promise.resolve(list),
    );
    await admission.admitRelease(address, release, list, untaught);
    return release;
  }

  async #findList(provider: ProviderAddress): Promise<VersionList | undefined> {
    const { catalog, offline } = this.#parts;
    return offline
      ? catalog.peekVersions(provider)
      : (await catalog.listVersions(provider)).value;
  }

  /** Throws OriginNotServed; a rule that denies the provider comes first, so that clients never look for it elsewhere. */
  #expectServed(provider: ProviderAddress): void {
    const { catalog, admission } = this.#parts;
    try {
      catalog.originOf(provider);
    } catch (error) {
      admission.admitElsewhere(provider);
      throw error;
    }
  }

  async #nameArchive(
    address: ReleaseAddress,
    { platform, packageHashes }: UnnamedPackage,
  ): Promise<Release> {
    const { catalog, offline, learnt } = this.#parts;
    if (offline) throw new NotStored(formatRelease(address));
    const { registry } = catalog.originOf(address.provider);
    await learnt.learn(address, platform, registry, packageHashes);
    return (await catalog.findRelease(address, { anew: true })).value;
  }

  /** The list of a mirror that asks nobody: what is stored of what may be served, whatever the origin listed. */
  async #listStored(
    provider: ProviderAddress,
    deadline: number,
  ): Promise<Answer<readonly Version[]>> {
    const { catalog, listKept } = this.#parts;
    const list = await catalog.peekVersions(provider);
    const kept = await listKept(provider);
    const known = new Set([...kept, ...(list?.versions.keys() ?? [])]);
    const admitted = await this.#listing.list(
      provider,
      limitVersions(list, known),
      deadline,
    );
    const found = await Promise.all(
      admitted.map((version) => this.#findStored({ provider, version })),
    );
    const value = admitted.filter((_, index) => found[index] === "stored");
    const name = formatProviderAddress(provider);
    if (value.length === 0)
      throw found.includes("refused")
        ? new NothingAdmitted(name)
        : new NotStored(name);
    return { value, outcome: "hit", age: 0, originTime: 0 };
  }

  /** Stored when some archive of the release is. */
  async #findStored(
    address: ReleaseAddress,
  ): Promise<"stored" | "absent" | "refused"> {
    try {
      const release = await this.#parts.catalog.peekRelease(address);
      const sizes = await Promise.all(
        [...(release?.packages.values() ?? [])].map((found) =>
          this.findSize(found),
        ),
      );
      return sizes.some((size) => size !== undefined) ? "stored" : "absent";
    } catch (error) {
      if (error instanceof ProvenderError) return "refused";
      throw error;
    }
  }
}
