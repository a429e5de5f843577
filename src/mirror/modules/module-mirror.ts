import type { Hostname } from "../../address/hostname.ts";
import {
  formatModuleAddress,
  type ModuleAddress,
} from "../../address/module-address.ts";
import type { ArchiveFormat } from "../../address/module-archive-name.ts";
import {
  type ArchiveSource,
  type GitSource,
  resolveLocation,
} from "../../address/module-source.ts";
import type { Version } from "../../address/version.ts";
import { inTime } from "../../concurrency/in-time.ts";
import { failure } from "../../errors/index.ts";
import {
  type Answer,
  asHit,
  type MetadataCache,
} from "../cache/metadata-cache.ts";
import type { Archives, OpenArchive } from "../archives/archives.ts";
import type { ListedModule, ModuleAdmission } from "./admission.ts";
import type { ModuleArchives } from "./archives.ts";
import type { ModuleTrustRecords } from "./records.ts";
import {
  type ForeignRelease,
  formatModuleRelease,
  isArchive,
  type ModuleArchive,
  type ModuleRelease,
  type ModuleReleaseAddress,
} from "./release.ts";
import {
  fetchModuleRelease,
  type ModuleOrigin,
  offerOf,
  sourceOf,
  startOf,
} from "./fetch.ts";
import type { ModulePins } from "./pins.ts";
import { type VersionList, refreshVersions } from "../versions/version-list.ts";
import {
  bareVersions,
  type OriginVersions,
} from "../../origin/registries/registry-answers.ts";

interface ModuleMirrorParts {
  readonly origins: ReadonlyMap<Hostname, ModuleOrigin>;
  readonly versions: MetadataCache<ModuleAddress, VersionList>;
  readonly releases: MetadataCache<ModuleReleaseAddress, ModuleRelease>;
  readonly archives: ModuleArchives;
  readonly records: Pick<ModuleTrustRecords, "listVersions">;
  readonly stored: Archives;
  readonly admission: ModuleAdmission;
  readonly offline: boolean;
  /** Unlisted hostnames are answered so that clients go on to their next installation method. */
  /** Milliseconds that a location waits for its archive; clients wait 10 s. */
  readonly patience: number;
  readonly onVanished: (
    module: ModuleAddress,
    versions: readonly Version[],
  ) => void;
  readonly pins: ModulePins;
  readonly onPassedThrough: (
    address: ModuleReleaseAddress,
    getter: string,
    location: string,
  ) => void;
}

/** Source of a release: the mirror, or `location` as the registry gave it. */
export type ModuleLocation =
  | {
      readonly kind: "archive";
      readonly format: ArchiveFormat;
      readonly subdirectory: string;
    }
  | { readonly kind: "elsewhere"; readonly location: string };

/** The read-through core of modules, as far as clients may have them. */
export class ModuleMirror {
  readonly #parts: ModuleMirrorParts;

  constructor(parts: ModuleMirrorParts) {
    this.#parts = parts;
  }

  /** Newest first; a version that the origin no longer lists is listed while it is stored. */
  async listVersions(module: ModuleAddress): Promise<Answer<ListedModule>> {
    const { admission, offline } = this.#parts;
    this.#originOf(module);
    admission.admitModule(module);
    if (offline) return this.#listStored(module);
    const answer = await this.#listKnown(module);
    const listed = await this.#keepAvailable(module, answer.value);
    return { ...answer, value: admission.keepAdmitted(module, listed) };
  }

  /** Waits for an archive that is not stored as long as clients do. */
  async findLocation(
    address: ModuleReleaseAddress,
  ): Promise<Answer<ModuleLocation>> {
    await this.admit(address);
    const found = await this.#parts.archives.find(address);
    // An imported module has no location, and needs none.
    if (this.#parts.offline) {
      if (isArchive(found)) return asHit({ kind: "archive", ...found });
      throw failure("not-stored", formatModuleRelease(address));
    }
    const answer = await this.#findRelease(address);
    const value = isArchive(found)
      ? ({ kind: "archive", ...found } as const)
      : await this.#locate(address, answer.value, found);
    return { ...answer, value };
  }

  /** Waits until the archive is stored; the caller closes it. `asker` aborts when no client waits for it any longer. */
  async openArchive(
    address: ModuleReleaseAddress,
    format: ArchiveFormat,
    asker: AbortSignal,
  ): Promise<OpenArchive> {
    const name = formatModuleRelease(address);
    let found: OpenArchive | undefined;
    // An archive that is damaged on disk is dropped when opened, and fetched
    // again.
    for (let tries = 0; found === undefined && tries < 2; tries++) {
      const archive = await this.ensureArchive(address, asker);
      if (!isArchive(archive) || archive.format !== format)
        throw failure("not-found", `${name} as ${format}`);
      found = await this.#parts.stored.openStored(archive.sha256);
    }
    if (found === undefined)
      throw failure("too-busy", "archives that leave the store");
    return found;
  }

  /** Waits until the archive is stored. */
  async ensureArchive(
    address: ModuleReleaseAddress,
    asker: AbortSignal,
  ): Promise<ModuleArchive | ForeignRelease> {
    await this.admit(address);
    const found = await this.#parts.archives.find(address);
    if (found !== undefined) return found;
    if (this.#parts.offline)
      throw failure("not-stored", formatModuleRelease(address));
    const { value: release } = await this.#findRelease(address);
    const source = sourceOf(address, release);
    if (source.kind !== "foreign")
      return this.#fetch(address, release, source, asker);
    await this.#expectForeign(address, release);
    return { foreign: source.getter };
  }

  async #locate(
    address: ModuleReleaseAddress,
    release: ModuleRelease,
    found: ForeignRelease | undefined,
  ): Promise<ModuleLocation> {
    const source = sourceOf(address, release);
    if (source.kind === "foreign") {
      await this.#expectForeign(address, release);
      return this.#passThrough(address, release, source.getter);
    }
    if (found !== undefined)
      return this.#passThrough(address, release, found.foreign);
    const kept = await this.#wait((asker) =>
      this.#fetch(address, release, source, asker),
    );
    if (kept !== undefined && "foreign" in kept)
      return this.#passThrough(address, release, kept.foreign);
    const format = source.kind === "git" ? "tar.gz" : source.format;
    return { kind: "archive", format, subdirectory: source.subdirectory };
  }

  /** Throws module-replaced where clients get other content than what only they can fetch. */
  async #expectForeign(
    address: ModuleReleaseAddress,
    release: ModuleRelease,
  ): Promise<void> {
    const offered = offerOf(address, release);
    if (offered !== undefined)
      await this.#parts.pins.expectSame(address, offered);
  }

  #passThrough(
    address: ModuleReleaseAddress,
    release: ModuleRelease,
    getter: string,
  ): ModuleLocation {
    const name = formatModuleRelease(address);
    const location = resolveLocation(name, release.location, release.base);
    this.#parts.onPassedThrough(address, getter, location);
    return { kind: "elsewhere", location };
  }

  /** Rejects when the fetch fails in time; undefined for one that takes longer, which goes on. */
  async #wait<T>(
    fetch: (asker: AbortSignal) => Promise<T>,
  ): Promise<T | undefined> {
    const asker = new AbortController();
    const { patience } = this.#parts;
    return inTime(fetch(asker.signal), patience, () => undefined).finally(() =>
      asker.abort(),
    );
  }

  #fetch(
    address: ModuleReleaseAddress,
    release: ModuleRelease,
    source: ArchiveSource | GitSource,
    asker: AbortSignal,
  ): Promise<ModuleArchive | ForeignRelease> {
    const origin = this.#originOf(address.module);
    const start = startOf(origin, address, source, release);
    return this.#parts.archives.fetch(address, start, asker);
  }

  /** Finds the place of what clients get; without one, what the registry names now. */
  async #findRelease(
    address: ModuleReleaseAddress,
  ): Promise<Answer<ModuleRelease>> {
    const origin = this.#originOf(address.module);
    const { releases, pins } = this.#parts;
    const answer = await releases.get(address, async (known, signal) => {
      const now = await fetchModuleRelease(origin, address, known, signal);
      const offered = offerOf(address, now);
      if (offered !== undefined) await pins.compare(address, offered);
      return now;
    });
    const served = await pins.settle(address);
    const { place = answer.value, commit = answer.value.commit } = served ?? {};
    return { ...answer, value: { ...place, commit } };
  }

  async #listKnown(module: ModuleAddress): Promise<Answer<VersionList>> {
    const origin = this.#originOf(module);
    const name = formatModuleAddress(module);
    const needsDates = this.#parts.admission.needsDates(module);
    const ask = (known: VersionList | undefined, signal: AbortSignal) => {
      const asked = listDated(origin, module, needsDates, signal);
      return refreshVersions(name, known, asked, origin, (versions) =>
        this.#parts.onVanished(module, versions),
      );
    };
    return this.#parts.versions.get(module, ask, { maxAge: origin.freshFor });
  }

  async #keepAvailable(
    module: ModuleAddress,
    list: VersionList,
  ): Promise<VersionList> {
    const gone = [...list.versions.values()].filter(({ listed }) => !listed);
    if (gone.length === 0) return list;
    const stored = new Set(await this.#listStoredVersions(module));
    const versions = [...list.versions].filter(
      ([version, { listed }]) => listed || stored.has(version),
    );
    return { ...list, versions: new Map(versions) };
  }

  async #listStored(module: ModuleAddress): Promise<Answer<ListedModule>> {
    const { versions, admission } = this.#parts;
    const list = await versions.peek(module);
    const stored = await this.#listStoredVersions(module);
    if (stored.length === 0)
      throw failure("not-stored", formatModuleAddress(module));
    return asHit(admission.sortOut(module, stored, list));
  }

  async #listStoredVersions(
    module: ModuleAddress,
  ): Promise<readonly Version[]> {
    const { records, archives } = this.#parts;
    const versions = await records.listVersions(module);
    const found = await Promise.all(
      versions.map((version) => archives.find({ module, version })),
    );
    return versions.filter((_, index) => isArchive(found[index]));
  }

  /** Throws origin-not-served, policy-denied and too-young. */
  async admit(address: ModuleReleaseAddress): Promise<void> {
    const { admission, versions } = this.#parts;
    this.#originOf(address.module);
    admission.admitModule(address.module);
    admission.admitRelease(address, await versions.peek(address.module));
  }

  #originOf(module: ModuleAddress): ModuleOrigin {
    const { origins, admission } = this.#parts;
    const origin = origins.get(module.hostname);
    if (origin !== undefined) return origin;
    admission.admitElsewhere(module);
    throw failure("origin-not-served", module.hostname);
  }
}

/** Milliseconds that a list waits for the dates of its versions. */
const datePatience = 3_000;

/** Lists versions with the dates that the registry claims of them, where they matter; one that comes late is left out. */
async function listDated(
  { registry }: ModuleOrigin,
  module: ModuleAddress,
  needsDates: boolean,
  signal: AbortSignal,
): Promise<OriginVersions> {
  const none = new Map<Version, Date>();
  const dates = needsDates
    ? inTime(
        Promise.resolve(registry.listDates?.(module, signal) ?? none),
        datePatience,
        () => none,
      ).catch(() => none)
    : none;
  return bareVersions(await registry.listVersions(module, signal), await dates);
}
