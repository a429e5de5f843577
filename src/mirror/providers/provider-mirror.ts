import { LRUCache } from "lru-cache";
import { formatPlatform, type Platform } from "../../address/platform.ts";
import {
  formatProviderAddress,
  type ProviderAddress,
} from "../../address/provider-address.ts";
import {
  failure,
  isFailure,
  isUnread,
  ProvenderError,
} from "../../errors/index.ts";
import { type Answer, asHit, type Within } from "../cache/metadata-cache.ts";
import type { OpenArchive } from "../archives/archives.ts";
import type { Clock } from "../cache/clock.ts";
import type { WrongArchives } from "../archives/wrong-archives.ts";
import type { ReleaseOrigin } from "../releases/evidence.ts";
import type { PackageHashes } from "../releases/package-hashes.ts";
import {
  formatRelease,
  type Release,
  type ReleaseAddress,
  type ReleasePackage,
} from "../releases/release.ts";
import type { ProviderCatalog } from "../standings/provider-catalog.ts";
import {
  admitElsewhere,
  type AdmissionRules,
  admitSubject,
  refuseByPolicy,
  youthOf,
} from "../trust/admission-rules.ts";
import type {
  Admission,
  ProviderRequest,
  ReleaseRequest,
} from "../trust/admission.ts";
import type { Version } from "../../address/version.ts";
import type { VersionList } from "../versions/version-list.ts";
import {
  type Lasting,
  type Listing,
  Listings,
  type ListingsParts,
} from "./listing.ts";
import type { OriginArchive } from "../../origin/http/http-client.ts";
import { verifyRegistryDigest } from "../../verification/signed-checksums.ts";

/** The versions that clients may have, with what that was decided by. */
interface AdmittedVersions extends Listing {
  /** Version list of the origin; undefined for a mirror that never asked it. */
  readonly list: VersionList | undefined;
}

export interface AdmittedRelease {
  readonly request: ReleaseRequest;
  readonly release: Release;
  readonly list: VersionList | undefined;
}

export interface AdmittedPackage extends AdmittedRelease {
  readonly found: ReleasePackage;
}

/** Archive of one platform as described to clients. */
export interface MirroredPackage {
  readonly platform: Platform;
  readonly filename: string;
  /** Its `zh:`, which is its own SHA-256, and its `h1:` once the mirror itself has computed it from the archive, which it had verified. */
  readonly hashes: readonly [zh: string, h1?: string];
}

/** An answer that is the same for as long as nothing changes. */
interface Held<V> extends Lasting {
  readonly change: number;
  readonly rules: AdmissionRules;
  readonly answer: Answer<V>;
}

interface ProviderMirrorParts extends ListingsParts {
  readonly catalog: ProviderCatalog;
  readonly admission: Admission;
  readonly clock: Clock;
  readonly wrong: WrongArchives;
  readonly hashes: PackageHashes;
  readonly offline: boolean;
}

/** Platforms of most clients. As many archives of a release are asked for; a host that fails for more of them would be spared. */
const usual: readonly string[] = [
  "windows_amd64",
  "darwin_arm64",
  "linux_amd64",
];

/** Bytes of answers in memory, of each kind; bounded because clients may request any. */
const memoryBytes = 16 * 1024 * 1024;
const weightOfOne = 4_000;
const weightOfVersion = 400;

/** An archive that clients of its platform would get, or why they would not. */
interface TriedArchive extends ReleasePackage {
  readonly isStored: boolean;
  readonly error?: unknown;
}

/** Milliseconds for which lists and absences are good enough for a person, who may ask for what came out this minute. */
export const justNow = 1_000;

/** Read-through core of the network mirror, for admitted content. Each request looks up its origin, the rules and the trust once. */
export class ProviderMirror {
  readonly #parts: ProviderMirrorParts;
  readonly #listings: Listings;
  /** Clients' addresses are the same objects for each request of the same name. */
  readonly #lists = new LRUCache<ProviderAddress, Held<AdmittedVersions>>({
    maxSize: memoryBytes,
  });
  readonly #held = new LRUCache<ReleaseAddress, Held<AdmittedRelease>>({
    maxSize: memoryBytes,
  });
  readonly #described = new WeakMap<
    Release,
    {
      readonly packages: Promise<readonly MirroredPackage[]>;
      readonly revision: number;
    }
  >();
  /** By digest; `tryArchives`'s. */
  readonly #tried = new LRUCache<string, Promise<unknown>>({
    max: 1_000,
    ttl: 10_000,
  });

  constructor(parts: ProviderMirrorParts) {
    this.#parts = parts;
    this.#listings = new Listings(parts);
  }

  /** Newest first. Throws not-found, policy-denied, origin-not-served and the origin's failures. */
  async listVersions(
    provider: ProviderAddress,
    within: Within = {},
  ): Promise<Answer<AdmittedVersions>> {
    const { admission, catalog, changes, offline } = this.#parts;
    const change = await changes.numberOf(provider);
    const held = this.#recall(this.#lists.get(provider), change, within);
    if (held !== undefined) return held;
    const origin = this.#originOf(provider);
    admitSubject(admission.rules, provider);
    const request = await admission.open(provider, origin);
    if (offline) return this.#listStored(request);
    try {
      const answer = await catalog.listVersions(request, within);
      const list = answer.value;
      const listing = await this.#listings.list(request, list);
      admission.noteLeftOut(provider, listing);
      const listed = { ...answer, value: { list, ...listing } };
      const held = this.#hold(request, change, listed, listing);
      const size = weightOfOne + weightOfVersion * list.versions.size;
      this.#lists.set(provider, held, { size });
      return listed;
    } catch (error) {
      // One that its origin does not have is listed as it is served: as far as a bundle brought it.
      if (!isFailure(error, "not-found")) throw error;
      const contact = await request.entry.findContact(provider.type);
      if (contact === undefined) throw error;
      return this.#listStored(request).catch((reason: unknown) => {
        throw isFailure(reason, "not-stored") ? error : reason;
      });
    }
  }

  /** All platforms that were signed and are offered, by name; no archive is waited for. They are described again once a hash was computed. */
  describePackages({
    release,
  }: AdmittedRelease): Promise<readonly MirroredPackage[]> {
    const { hashes } = this.#parts;
    const { revision } = hashes;
    const kept = this.#described.get(release);
    if (kept?.revision === revision) return kept.packages;
    const all = [...release.packages.values()]
      .toSorted((a, b) => (a.filename < b.filename ? -1 : 1))
      .map(async ({ platform, filename, sha256 }): Promise<MirroredPackage> => {
        const h1 = await hashes.find(sha256);
        const zh = `zh:${sha256}`;
        // Terraform up to 1.11 and OpenTofu up to 1.6 check the first that they can; for an h1 they unpack and hash every file.
        return { platform, filename, hashes: h1 ? [zh, h1] : [zh] };
      });
    const packages = Promise.all(all);
    this.#described.set(release, { packages, revision });
    packages.catch(() => this.#described.delete(release));
    return packages;
  }

  /** The digest that was signed for a package; throws not-found when none was. */
  async findPackage(
    address: ReleaseAddress,
    platform: Platform,
    within: Within = {},
  ): Promise<Answer<AdmittedPackage>> {
    const answer = await this.findRelease(address, within);
    const name = formatPlatform(platform);
    const found = answer.value.release.packages.get(name);
    if (found === undefined)
      throw failure("not-found", `${formatRelease(address)} for ${name}`);
    return { ...answer, value: { ...answer.value, found } };
  }

  /** The same; nothing is asked of the origin for what is known. */
  async recallPackage(
    address: ReleaseAddress,
    platform: Platform,
  ): Promise<AdmittedPackage> {
    const admitted = await this.recallRelease(address);
    const found = admitted.release.packages.get(formatPlatform(platform));
    if (found !== undefined) return { ...admitted, found };
    // Platforms may have been added to a release since.
    return (await this.findPackage(address, platform)).value;
  }

  /** Starts or joins the download of what is not stored; the caller closes it. */
  async openArchive(admitted: AdmittedPackage): Promise<OpenArchive> {
    const { archives, offline, wrong } = this.#parts;
    const { address } = admitted.request;
    const { filename, sha256 } = admitted.found;
    const stored = await archives.openStored(sha256);
    if (stored !== undefined) return stored;
    const came = await wrong.find(address.provider, sha256);
    if (came?.isRefused === true)
      throw failure("archive-digest", filename, sha256, came.got);
    if (offline) throw failure("not-stored", filename);
    const archive = await archives.open(sha256, {
      name: filename,
      hostname: address.provider.hostname,
      open: (signal) => openPackage(admitted, signal),
      onWrong: (got) =>
        void wrong.note(address.provider, sha256, got).catch(() => undefined),
    });
    archive.stored
      .then(() => wrong.clear(address.provider, sha256))
      .catch(() => undefined);
    return archive;
  }

  /** Bytes, when they are known without asking the origin. */
  findSize({ sha256 }: ReleasePackage): Promise<number | undefined> {
    return this.#parts.archives.findSize(sha256);
  }

  /**
   * The answers to clients that ask for the archives of a release now. One that is not stored came wrong last, however long
   * ago, or is asked for, and its body is left; so are a few of them. Pages ask, so it is remembered for a moment.
   */
  async tryArchives(
    admitted: AdmittedRelease,
  ): Promise<readonly TriedArchive[]> {
    const { archives, offline, wrong } = this.#parts;
    const { address } = admitted.request;
    const known: TriedArchive[] = [];
    const missing: ReleasePackage[] = [];
    for (const found of admitted.release.packages.values()) {
      const { filename, sha256 } = found;
      const isStored = (await this.findSize(found)) !== undefined;
      const came = isStored
        ? undefined
        : await wrong.find(address.provider, sha256);
      const error =
        came && failure("archive-digest", filename, sha256, came.got);
      if (isStored || error) known.push({ ...found, isStored, error });
      else missing.push(found);
    }
    const open = async (found: ReleasePackage) => {
      if (offline) throw failure("not-stored", found.filename);
      const done = new AbortController();
      const wanted = { ...admitted, found };
      const { size } = await openPackage(wanted, done.signal).finally(() =>
        done.abort(),
      );
      await archives.expectRoom(size);
    };
    const rank = ({ platform }: ReleasePackage) =>
      usual.indexOf(formatPlatform(platform));
    const asked = missing
      .toSorted((a, b) => rank(b) - rank(a))
      .slice(0, usual.length)
      .map(async (found): Promise<TriedArchive> => {
        const { sha256 } = found;
        const tried =
          this.#tried.get(sha256) ?? open(found).catch((err: unknown) => err);
        this.#tried.set(sha256, tried);
        return { ...found, isStored: false, error: await tried };
      });
    return [...known, ...(await Promise.all(asked))];
  }

  /** A release that clients may have; the rules are asked before the origin is. */
  async findRelease(
    address: ReleaseAddress,
    within: Within = {},
  ): Promise<Answer<AdmittedRelease>> {
    const { admission, standings, changes, offline } = this.#parts;
    const change = await changes.numberOf(address.provider);
    const held = this.#recall(this.#held.get(address), change, within);
    if (held !== undefined) return held;
    const origin = this.#originOf(address.provider);
    const request = await admission.openVersion(address, origin);
    const found = await standings.lookUp(request, within);
    const value = await this.#admitted(request, found.value);
    const answer = { ...found, value };
    if (isOffered(value) && !offline) {
      const { document, keys } = value.release.proof;
      let size = weightOfOne + document.length;
      for (const key of keys) size += key.length;
      this.#held.set(address, this.#hold(request, change, answer), { size });
    }
    return answer;
  }

  /** What was answered last, while that is what would be answered again. */
  #recall<V>(
    held: Held<V> | undefined,
    change: number,
    { maxAge }: Within,
  ): Answer<V> | undefined {
    const { admission, clock } = this.#parts;
    const isGood =
      held?.change === change &&
      held.rules === admission.rules &&
      held.due > clock.monotonic() &&
      held.until > clock.now().getTime() &&
      maxAge === undefined;
    return isGood ? held.answer : undefined;
  }

  /** A policy that only reports hears of each request. */
  #hold<V>(
    { rules, origin }: ProviderRequest,
    change: number,
    { value, age }: Answer<V>,
    { until, due }: Lasting = { until: Infinity, due: Infinity },
  ): Held<V> {
    const { clock, freshness } = this.#parts;
    const fresh = Math.min(origin.freshFor ?? Infinity, freshness) - age;
    const end = Math.min(due, clock.monotonic() + fresh);
    const isReporting = rules.report !== undefined;
    return {
      ...{ change, rules, until, due: isReporting ? -Infinity : end },
      answer: { value, outcome: "hit", age, originTime: 0 },
    };
  }

  /** The same for a version that an operator named exactly; asks the origin only for a release that is not known as good. */
  async recallRelease(address: ReleaseAddress): Promise<AdmittedRelease> {
    const { admission, standings } = this.#parts;
    const origin = this.#originOf(address.provider);
    const request = await admission.openVersion(address, origin);
    const known = await standings.look(request).catch((error: unknown) => {
      // A release that is refused as it is known has to be asked for.
      if (!(error instanceof ProvenderError) || isUnread(error)) throw error;
    });
    const asked = { absentFor: justNow };
    const found = known ?? (await standings.lookUp(request, asked)).value;
    return this.#admitted(request, found);
  }

  /** A release outlives its removal as far as it is stored, as lists have it. Throws not-found and not-stored. */
  async #admitted(
    request: ReleaseRequest,
    release: Release,
  ): Promise<AdmittedRelease> {
    const { catalog, offline } = this.#parts;
    const { address, provider, rules, decision } = request;
    // Too young, where the policy only reports: it hears of that.
    if (!release.age.old) {
      const youth = youthOf(provider, address.version, decision, release.age);
      refuseByPolicy(rules, youth);
    }
    const list = await catalog.versions.peek(provider);
    const admitted = { request, release, list };
    if (isOffered(admitted) && !offline) return admitted;
    for (const found of release.packages.values())
      if ((await this.findSize(found)) !== undefined) return admitted;
    throw failure(offline ? "not-stored" : "not-found", formatRelease(address));
  }

  /** The origin of a provider. Throws origin-not-served; a rule that denies the provider comes first, so that clients never look for it elsewhere. */
  #originOf(provider: ProviderAddress): ReleaseOrigin {
    const { catalog, admission } = this.#parts;
    try {
      return catalog.originOf(provider);
    } catch (error) {
      admitElsewhere(admission.rules, provider);
      throw error;
    }
  }

  /** The stored versions that may be served, which are all that a mirror has that asks no origin. */
  async #listStored(
    request: ProviderRequest,
  ): Promise<Answer<AdmittedVersions>> {
    const { catalog, releases } = this.#parts;
    const list = await catalog.versions.peek(request.provider);
    const kept = await releases.list(request.provider);
    if (kept.length === 0)
      throw failure("not-stored", formatProviderAddress(request.provider));
    const listing = await this.#listings.listStored(request, kept);
    return asHit({ list, ...listing });
  }
}

function isOffered({ request, release, list }: AdmittedRelease): boolean {
  const listed = list?.versions.get(request.address.version)?.listed;
  return listed === true || release.places.size > 0;
}

/** Opens the archive at the URL that the origin gave with the release. If that fails, asks for the current URL, whose `shasum` must equal the signed one. */
async function openPackage(
  { request, release, found: { platform, filename, sha256 } }: AdmittedPackage,
  signal: AbortSignal,
): Promise<OriginArchive> {
  const { registry } = request.origin;
  const { provider, version } = request.address;
  const place = release.places.get(formatPlatform(platform));
  const open = (url: URL) => registry.openArchive(url, signal);
  let failure: unknown;
  try {
    if (place !== undefined) return await open(new URL(place));
  } catch (error) {
    // Signed URLs expire, and hosts answer for that with a status or a page; hosts leave, too, or were named wrongly.
    const mayHaveMoved = isFailure(
      error,
      "origin-status",
      "origin-unreachable",
      "origin-address-refused",
      "origin-credentials",
      "origin-answer",
    );
    if (!mayHaveMoved) throw error;
    failure = error;
  }
  const found = await registry.findPackage(
    ...([provider, version, [platform], signal] as const),
  );
  verifyRegistryDigest(filename, sha256, found.shasum);
  if (found.downloadUrl.href === place) throw failure;
  return open(found.downloadUrl);
}

/** `index.json` (Provider Network Mirror Protocol, "List Available Versions"). */
export function renderIndex(versions: readonly Version[]): object {
  return {
    versions: Object.fromEntries(versions.map((version) => [version, {}])),
  };
}

/**
 * Renders `VERSION.json` ("List Available Installation Packages"). `locate` returns the URL of an archive relative to the
 * document. `computed`, by platform, is the h1 that this mirror computed; clients ignore it.
 */
export function renderVersion(
  packages: readonly MirroredPackage[],
  locate?: (filename: string) => string,
): object {
  const archives: Record<string, object> = {};
  const computed: Record<string, string> = {};
  for (const { platform, filename, hashes } of packages) {
    const name = formatPlatform(platform);
    archives[name] = { url: locate?.(filename) ?? filename, hashes };
    const [, h1] = hashes;
    if (h1 !== undefined) computed[name] = h1;
  }
  return { archives, computed };
}
