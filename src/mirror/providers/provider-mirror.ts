import { formatPlatform, type Platform } from "../../address/platform.ts";
import {
  formatProviderAddress,
  type ProviderAddress,
} from "../../address/provider-address.ts";
import { whenKnown } from "../../concurrency/when-known.ts";
import { NotStored } from "../../errors/index.ts";
import type { Alarms } from "../../telemetry/alarms.ts";
import { asHit, type Answer } from "../cache/answer.ts";
import type { ArchiveCache, OpenArchive } from "../cache/archive-cache.ts";
import { openPackage } from "../releases/fetch.ts";
import type { PackageHashes } from "../releases/package-hashes.ts";
import type { ReleaseRecords } from "../releases/records.ts";
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
import { admitElsewhere, admitProvider } from "../trust/admission-rules.ts";
import type { Admission } from "../trust/admission.ts";
import { nothingAdmitted } from "../trust/left-out.ts";
import type {
  ProviderRequest,
  ReleaseRequest,
  Served,
} from "../trust/request.ts";
import type {
  AdmittedPackage,
  AdmittedRelease,
  AdmittedVersions,
  Listing,
} from "./admitted.ts";
import { DescribedPackages, type Describable } from "./described-packages.ts";
import {
  FirstContacts,
  isRefusalOfCandidate,
  listCandidates,
  type FirstContactFailure,
} from "./first-contact.ts";
import type { MirroredPackage } from "./package-description.ts";
import type { ProviderCatalog } from "./provider-catalog.ts";
import { findStored } from "./stored-releases.ts";
import { VersionListing } from "./version-listing.ts";

interface ProviderMirrorParts {
  readonly catalog: ProviderCatalog;
  readonly admission: Admission;
  readonly archives: ArchiveCache;
  readonly hashes: PackageHashes;
  readonly releases: Pick<ReleaseRecords, "list">;
  readonly alarms: Alarms;
  readonly offline: boolean;
}

type FindList = () => Promise<VersionList | undefined>;

/** Milliseconds for a list of versions with all look-ups that it needs; clients give metadata 10 s. */
const listingTime = 7_000;

/**
 * The read-through core: what clients of a network mirror ask for, as far as they
 * may have it. Each request looks up its origin, the rules and the ledger once.
 */
export class ProviderMirror {
  readonly #parts: ProviderMirrorParts;
  readonly #listing: VersionListing;
  readonly #firstContacts = new FirstContacts();
  readonly #described: DescribedPackages;

  constructor(parts: ProviderMirrorParts) {
    this.#parts = parts;
    this.#described = new DescribedPackages(parts);
    this.#listing = new VersionListing(parts);
  }

  /** Newest first. Throws NotFound, PolicyDenied, OriginNotServed and the origin's failures. */
  listVersions(
    provider: ProviderAddress,
  ): Answer<AdmittedVersions> | Promise<Answer<AdmittedVersions>> {
    const served = this.#serve(provider);
    admitProvider(served.rules, provider);
    const opened = this.#parts.admission.open(provider, served);
    return whenKnown(opened, (request) => {
      const deadline = performance.now() + listingTime;
      return this.#parts.offline
        ? this.#listStored(request, deadline)
        : this.#listOffered(request, deadline);
    });
  }

  /** All platforms that were signed and are offered, by name, and what only its content names, without `zh:`; no archive is waited for. */
  describePackages(admitted: Describable): Promise<readonly MirroredPackage[]> {
    return this.#described.of(admitted);
  }

  /** The digest that was signed for a package; throws NotFound when none was. An archive that only its content names is fetched for it. */
  async findPackage(
    address: ReleaseAddress,
    platform: Platform,
  ): Promise<Answer<AdmittedPackage>> {
    const { value, ...answer } = await this.findRelease(address);
    return { ...answer, value: await this.#pickPackage(value, platform) };
  }

  async #pickPackage(
    { request, release }: AdmittedRelease,
    platform: Platform,
  ): Promise<AdmittedPackage> {
    const { address } = request;
    const name = formatPlatform(platform);
    const unnamed = listUnnamed(address, release).find(
      (one) => formatPlatform(one.platform) === name,
    );
    const named =
      unnamed === undefined
        ? release
        : await this.#nameArchive(request, unnamed);
    const found = packageOf(address, named, platform);
    return { request, release: named, found };
  }

  /** Starts or joins the download of what is not stored; the caller closes it. */
  async openArchive({
    request: { address, origin },
    release,
    found,
  }: AdmittedPackage): Promise<OpenArchive> {
    const { archives, offline } = this.#parts;
    if (offline && (await this.findSize(found)) === undefined)
      throw new NotStored(found.filename);
    const place = release.places.get(formatPlatform(found.platform));
    return archives.open(found.sha256, {
      name: found.filename,
      hostname: address.provider.hostname,
      namespace: address.provider.namespace,
      open: async (signal) => {
        // What is stored may be found damaged, and dropped.
        if (offline) throw new NotStored(found.filename);
        return openPackage(origin, address, found, place, signal);
      },
    });
  }

  /** Bytes, when they are known without asking the origin. */
  async findSize({ sha256 }: ReleasePackage): Promise<number | undefined> {
    return this.#parts.archives.findSize(sha256);
  }

  /** A verified release that clients may have; the rules are asked before the origin is. */
  async findRelease(address: ReleaseAddress): Promise<Answer<AdmittedRelease>> {
    const { catalog, admission } = this.#parts;
    const served = this.#serve(address.provider);
    const request = await admission.openVersion(address, served);
    const [answer, untaught] = await Promise.all([
      catalog.findRelease(request),
      this.#learn(request, () => this.#findList(request)),
    ]);
    const list = await catalog.peekVersions(address.provider);
    return this.#admit(request, answer, list, untaught);
  }

  /** The same for a version that was named exactly; asks the origin only for what is not known at all. */
  async recallRelease(address: ReleaseAddress): Promise<AdmittedRelease> {
    const { catalog, admission } = this.#parts;
    const served = this.#serve(address.provider);
    const request = await admission.openVersion(address, served);
    const answer = await catalog.recallRelease(request);
    const list = await catalog.peekVersions(address.provider);
    const untaught = await this.#learn(request, () => Promise.resolve(list));
    return (await this.#admit(request, answer, list, untaught)).value;
  }

  /** The origin of a provider and the rules of this moment. Throws OriginNotServed; a rule that denies the provider comes first, so that clients never look for it elsewhere. */
  #serve(provider: ProviderAddress): Served {
    const { catalog, admission } = this.#parts;
    const { rules } = admission;
    try {
      return { origin: catalog.originOf(provider), rules };
    } catch (error) {
      admitElsewhere(rules, provider);
      throw error;
    }
  }

  async #admit(
    request: ReleaseRequest,
    { value: release, ...answer }: Answer<Release>,
    list: VersionList | undefined,
    untaught: FirstContactFailure,
  ): Promise<Answer<AdmittedRelease>> {
    // Operators may have decided something while the origin was asked.
    if (answer.outcome !== "hit") await request.entry.renew();
    await this.#parts.admission.admitRelease(request, release, list, untaught);
    return { ...answer, value: { request, release, list } };
  }

  #list(
    request: ProviderRequest,
    list: VersionList,
    deadline: number,
  ): Listing | Promise<Listing> {
    const learning = this.#learn(request, () => Promise.resolve(list));
    return this.#listing.list(request, list, learning, deadline);
  }

  /** First contact with a provider teaches its key: that of the newest release which its first list had, whatever was asked for. Resolves with why it could not. */
  #learn(request: ProviderRequest, findList: FindList) {
    return (
      this.#firstContacts.find(request) ??
      this.#firstContacts.track(request, this.#teach(request, findList))
    );
  }

  async #teach(request: ProviderRequest, findList: FindList): Promise<boolean> {
    const list = await findList();
    if (list === undefined) return false;
    for (const candidate of listCandidates(request, list))
      try {
        const release = await this.#findCandidate(candidate);
        if (release === undefined) return false;
        if (await this.#parts.admission.teach(candidate, release, list))
          return true;
      } catch (error) {
        if (!isRefusalOfCandidate(error)) throw error;
      }
    return false;
  }

  /** Undefined when it is not stored and nobody may be asked: then no older one can stand for it. */
  async #findCandidate(
    candidate: ReleaseRequest,
  ): Promise<Release | undefined> {
    const { catalog, offline } = this.#parts;
    const known = await catalog.peekRelease(candidate.address);
    if (known !== undefined || offline) return known;
    return (await catalog.findRelease(candidate)).value;
  }

  async #findList(request: ProviderRequest): Promise<VersionList | undefined> {
    const { catalog, offline } = this.#parts;
    return offline
      ? catalog.peekVersions(request.provider)
      : (await catalog.listVersions(request)).value;
  }

  async #nameArchive(
    request: ReleaseRequest,
    { platform, packageHashes }: UnnamedPackage,
  ): Promise<Release> {
    const { catalog, offline } = this.#parts;
    const { address, origin } = request;
    if (offline) throw new NotStored(formatRelease(address));
    await origin.learn?.(address, platform, packageHashes);
    return (await catalog.findRelease(request, { anew: true })).value;
  }

  #listOffered(
    request: ProviderRequest,
    deadline: number,
  ): Answer<AdmittedVersions> | Promise<Answer<AdmittedVersions>> {
    const { catalog, admission } = this.#parts;
    return whenKnown(catalog.listVersions(request), (answer) => {
      const list = answer.value;
      return whenKnown(this.#list(request, list, deadline), (listing) => {
        admission.noteLeftOut(request, listing);
        return { ...answer, value: { request, list, ...listing } };
      });
    });
  }

  /** The list of a mirror that asks nobody: what is stored of what may be served, whatever the origin listed. */
  async #listStored(
    request: ProviderRequest,
    deadline: number,
  ): Promise<Answer<AdmittedVersions>> {
    const { catalog, releases } = this.#parts;
    const { provider } = request;
    const list = await catalog.peekVersions(provider);
    const kept = await releases.list(provider);
    const known = new Set([...kept, ...(list?.versions.keys() ?? [])]);
    const limited = limitVersions(list, known);
    const listing = await this.#list(request, limited, deadline);
    const { versions: admitted, ...others } = listing;
    const found = await Promise.all(
      admitted.map((version) => findStored(this.#parts, provider, version)),
    );
    const versions = admitted.filter((_, index) => found[index] === "stored");
    const name = formatProviderAddress(provider);
    if (versions.length === 0)
      throw found.includes("refused")
        ? nothingAdmitted(name, others.leftOut)
        : new NotStored(name);
    return asHit({ request, versions, list, ...others });
  }
}
