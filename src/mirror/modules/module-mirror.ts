import { hash } from "node:crypto";
import type { Sha256 } from "../../address/hash.ts";
import type { Hostname } from "../../address/hostname.ts";
import {
  formatModuleAddress,
  type ModuleAddress,
} from "../../address/module-address.ts";
import type { ArchiveFormat } from "../../address/module-archive-name.ts";
import {
  type ModuleSource,
  parseModuleSource,
  resolveLocation,
  withoutQuery,
} from "../../address/module-source.ts";
import { isMatch } from "../../address/policy-pattern.ts";
import { newestFirst, type Version } from "../../address/version.ts";
import { inTime } from "../../concurrency/in-time.ts";
import { failure, isFailure } from "../../errors/index.ts";
import type { GitRepositories } from "../../origin/git/repository.ts";
import type { OriginArchive } from "../../origin/http/http-client.ts";
import type { ModuleRegistry } from "../../origin/registries/module-registry.ts";
import type { OriginVersions } from "../../origin/registries/registry-answers.ts";
import type { SharedArchives } from "../../store/bucket/shared-archives.ts";
import type { RecordStore } from "../../store/records/record-store.ts";
import type { Alarms } from "../../telemetry/alarms.ts";
import type { Logger } from "../../telemetry/logger.ts";
import type { Metrics } from "../../telemetry/metrics.ts";
import { decideByAge } from "../../trust/age.ts";
import { decideByRules } from "../../trust/policy.ts";
import type { ArchiveThreads } from "../../verification/archives/threads.ts";
import type { Archives, OpenArchive } from "../archives/archives.ts";
import { DownloadPlaces, type PlaceLimits } from "../archives/places.ts";
import { type ArchiveStore, receiveWhole } from "../archives/room.ts";
import type { Clock } from "../cache/clock.ts";
import {
  type Answer,
  asHit,
  type MetadataCache,
  type Within,
} from "../cache/metadata-cache.ts";
import { refreshVersions, type VersionList } from "../versions/version-list.ts";
import {
  admitElsewhere,
  type AdmissionRules,
  admitSubject,
  admitVersion,
  refuseByPolicy,
  youthOf,
} from "../trust/admission-rules.ts";
import type { Admission } from "../trust/admission.ts";
import {
  divide,
  leaveOutDenied,
  leaveOutYoung,
  type LeftOut,
  type Listed,
  nothingAdmitted,
} from "../trust/left-out.ts";
import { NotPackable, packCommit } from "./git-packing.ts";
import type { ModulePins } from "./pins.ts";
import { listModuleVersions } from "./records.ts";
import {
  type ForeignRelease,
  formatModuleRelease,
  isArchive,
  type ModuleArchive,
  type ModuleOffer,
  type ModulePlace,
  type ModuleRelease,
  type ModuleReleaseAddress,
} from "./release.ts";

export interface ModuleOrigin {
  readonly registry: Pick<ModuleRegistry, "listVersions" | "findLocation"> &
    Partial<Pick<ModuleRegistry, "listDates">>;
  /** Asked without the registry's credentials. */
  readonly openArchive: (
    url: URL,
    signal: AbortSignal,
  ) => Promise<OriginArchive>;
  /** The same; a folder has archives only. */
  readonly git?: GitRepositories;
  /** Milliseconds for which a list is fresh, if not the default. */
  readonly freshFor?: number | undefined;
}

interface Surroundings extends ArchiveStore {
  readonly origins: ReadonlyMap<Hostname, ModuleOrigin>;
  readonly versions: MetadataCache<ModuleAddress, VersionList>;
  readonly releases: MetadataCache<ModuleReleaseAddress, ModuleRelease>;
  readonly records: RecordStore;
  readonly pins: ModulePins;
  readonly admission: Admission;
  readonly clock: Clock;
  readonly stored: Archives;
  /** Archives that another replica fetched. */
  readonly nearest: SharedArchives | undefined;
  readonly limits: PlaceLimits & { readonly waiters: number };
  readonly offline: boolean;
  /** Milliseconds that a location waits for its archive; clients wait 10 s. */
  readonly patience: number;
  readonly threads: ArchiveThreads;
  readonly alarms: Alarms;
  readonly logger: Logger;
  readonly metrics: Metrics | undefined;
}

/** Versions of a module that clients may have, newest first, and those left out. */
interface ListedModule extends Listed {
  readonly versions: readonly Version[];
  /** List of the registry; undefined for imported modules. */
  readonly list?: VersionList | undefined;
}

/** Source of a release: the mirror, or `location` as the registry gave it. */
export type ModuleLocation =
  | ({ readonly kind: "archive" } & InArchive)
  | { readonly kind: "elsewhere"; readonly location: string };

type InArchive = Pick<ModuleArchive, "format" | "subdirectory">;

interface Incoming extends InArchive {
  readonly body: AsyncIterable<Uint8Array>;
  /** Bytes, where they were announced. */
  readonly size?: number | undefined;
  readonly checksum?: Sha256 | undefined;
  /** Commit that a git source was packed from, and the place of that. */
  readonly commit?: string | undefined;
  readonly place?: ModulePlace;
  /** Content that is known, of which this is no new offer. */
  readonly known?: ModuleArchive;
  /** Lets go of what it comes from, also where nothing of the body was read. */
  readonly close?: () => Promise<void> | void;
}

/**
 * The read-through core of modules, as far as clients may have them: where is a release, is it stored, else it is
 * fetched whole, looked through, pinned and stored before a client gets a byte, or passed through to where only
 * clients can fetch it.
 */
export class ModuleMirror {
  readonly #around: Surroundings;
  /** At most one a release. */
  readonly #fetches = new Map<
    string,
    Promise<ModuleArchive | ForeignRelease>
  >();
  readonly #places: DownloadPlaces;
  readonly #closing = new AbortController();

  constructor(around: Surroundings) {
    this.#around = around;
    this.#places = new DownloadPlaces(around.limits);
  }

  /** Newest first; a version that the origin no longer lists is listed while it is stored. */
  async listVersions(
    module: ModuleAddress,
    { maxAge, mayBeOld = false }: Within = {},
  ): Promise<Answer<ListedModule>> {
    const { admission, clock, versions, offline, alarms } = this.#around;
    const origin = this.#originOf(module);
    const { rules } = admission;
    admitSubject(rules, module);
    const name = formatModuleAddress(module);
    if (offline) {
      const stored = await this.#listStored(module);
      if (stored.length === 0) throw failure("not-stored", name);
      const list = await versions.peek(module);
      return asHit(sortOut(rules, module, stored, list, clock.now()));
    }
    const { freshFor } = origin;
    const isDated = rules.policy.rules.some(
      ({ pattern, minimumAge }) => minimumAge > 0 && isMatch(pattern, module),
    );
    const answer = await versions.get(
      module,
      (known, signal) =>
        refreshVersions(
          name,
          known,
          listDated(origin, module, isDated, signal),
          { clock, freshFor },
          (vanished) =>
            alarms.raise("versions-vanished", {
              module: name,
              versions: vanished,
            }),
        ),
      {
        maxAge: maxAge ?? freshFor,
        mayBeOld: mayBeOld && freshFor === undefined,
      },
    );
    const list = answer.value;
    const known = [...list.versions.values()];
    const isGone = known.some(({ listed }) => !listed);
    const stored = isGone ? await this.#listStored(module) : [];
    const available = known
      .filter(({ version, listed }) => listed || stored.includes(version))
      .map(({ version }) => version);
    const value = sortOut(rules, module, available, list, clock.now());
    admission.noteLeftOut(module, value);
    if (value.versions.length === 0 && value.leftOut.length > 0)
      throw nothingAdmitted(name, value.leftOut, rules.policy);
    return { ...answer, value };
  }

  /** Waits for an archive that is not stored as long as clients do; a fetch that takes longer goes on. */
  async findLocation(
    address: ModuleReleaseAddress,
  ): Promise<Answer<ModuleLocation>> {
    await this.admit(address);
    const stored = await this.find(address);
    // An imported module has no location, and needs none.
    if (this.#around.offline && isArchive(stored))
      return asHit({ kind: "archive", ...stored });
    const answer = await this.#findRelease(address);
    const release = answer.value;
    const found = stored ?? (await this.#locate(address, release));
    if (!("foreign" in found))
      return { ...answer, value: { kind: "archive", ...found } };
    const module = formatModuleRelease(address);
    const location = resolveLocation(module, release.location, release.base);
    const { logger, metrics } = this.#around;
    metrics?.passedThrough.inc();
    logger.warn(
      { module, getter: found.foreign, location: withoutQuery(location) },
      "clients are sent elsewhere for a module that the mirror cannot fetch",
    );
    return { ...answer, value: { kind: "elsewhere", location } };
  }

  /** Waits until the archive is stored; the caller closes it. */
  async openArchive(
    address: ModuleReleaseAddress,
    format: ArchiveFormat,
  ): Promise<OpenArchive> {
    // An archive that is damaged on disk is dropped when opened, and fetched
    // again.
    for (let tries = 0; tries < 2; tries++) {
      const archive = await this.ensureArchive(address);
      if (!isArchive(archive) || archive.format !== format)
        throw failure(
          "not-found",
          `${formatModuleRelease(address)} as ${format}`,
        );
      const opened = await this.#around.stored.openStored(archive.sha256);
      if (opened !== undefined) return opened;
    }
    throw failure("too-busy", "archives that leave the store");
  }

  async ensureArchive(
    address: ModuleReleaseAddress,
  ): Promise<ModuleArchive | ForeignRelease> {
    await this.admit(address);
    const stored = await this.find(address);
    if (stored !== undefined) return stored;
    const { value: release } = await this.#findRelease(address);
    return this.#obtain(address, release);
  }

  /** Finds what clients get of a release: its archive where that is stored, or why only they can fetch it. */
  async find(
    address: ModuleReleaseAddress,
  ): Promise<ModuleArchive | ForeignRelease | undefined> {
    const { blobs, pins } = this.#around;
    const { archive, foreign } = (await pins.settle(address)) ?? {};
    if (foreign !== undefined) return { foreign };
    const size = archive && (await blobs.size(archive.sha256));
    return size === undefined ? undefined : archive;
  }

  /** Throws origin-not-served, policy-denied and too-young. */
  async admit(address: ModuleReleaseAddress): Promise<void> {
    const { admission, versions, clock } = this.#around;
    const { module, version } = address;
    this.#originOf(module);
    admitSubject(admission.rules, module);
    const decision = admitVersion(admission.rules, module, version);
    const list = await versions.peek(module);
    const age = ageOf(version, list, decision.minimumAge, clock.now());
    if (!age.old)
      refuseByPolicy(admission.rules, youthOf(module, version, decision, age));
  }

  /**
   * Decides on a bundle's archive as if an origin had offered it now; false where nothing is known to compare it with.
   * Throws what `admit` throws, and module-replaced.
   */
  async judge(
    address: ModuleReleaseAddress,
    archive: ModuleArchive,
  ): Promise<boolean> {
    await this.admit(address);
    const offered = { digest: archive.sha256, archive };
    return this.#around.pins.expectSame(address, offered);
  }

  /** Takes an archive out of a bundle as if it came from its registry. */
  async take(
    address: ModuleReleaseAddress,
    archive: ModuleArchive,
    { body, size }: Pick<Incoming, "body" | "size">,
  ): Promise<void> {
    const incoming = { ...archive, body, size, checksum: archive.sha256 };
    await this.#fetch(address, () => Promise.resolve(incoming));
  }

  /** Ends the fetches; resolves when their files are gone. */
  async close(): Promise<void> {
    this.#closing.abort(failure("not-ready", "it is stopping"));
    await Promise.allSettled(this.#fetches.values());
  }

  /** Finds the place of what clients get; without one, what the registry names now. */
  async #findRelease(
    address: ModuleReleaseAddress,
  ): Promise<Answer<ModuleRelease>> {
    const { releases, pins, offline } = this.#around;
    if (offline) throw failure("not-stored", formatModuleRelease(address));
    const origin = this.#originOf(address.module);
    const answer = await releases.get(address, async (known, signal) => {
      const now = await askRegistry(origin, address, known, signal);
      const offered = offerOf(address, now);
      if (offered !== undefined) await pins.compare(address, offered);
      return now;
    });
    const served = await pins.settle(address);
    const { place = answer.value, commit = answer.value.commit } = served ?? {};
    return { ...answer, value: { ...answer.value, ...place, commit } };
  }

  /** Rejects when the fetch fails in time. */
  async #locate(
    address: ModuleReleaseAddress,
    release: ModuleRelease,
  ): Promise<InArchive | ForeignRelease> {
    const source = sourceOf(address, release);
    const obtained = this.#obtain(address, release);
    if (source.kind === "foreign") return obtained;
    const { subdirectory } = source;
    const format = source.kind === "git" ? "tar.gz" : source.format;
    return inTime<InArchive | ForeignRelease, InArchive>(
      obtained,
      this.#around.patience,
      () => ({ format, subdirectory }),
    );
  }

  /** Throws module-replaced where clients get other content than what only they can fetch. */
  async #obtain(
    address: ModuleReleaseAddress,
    release: ModuleRelease,
  ): Promise<ModuleArchive | ForeignRelease> {
    const source = sourceOf(address, release);
    if (source.kind === "foreign") {
      const offered = offerOf(address, release);
      if (offered) await this.#around.pins.expectSame(address, offered);
      return { foreign: source.getter };
    }
    const { openArchive, git } = this.#originOf(address.module);
    const name = formatModuleRelease(address);
    return this.#fetch(address, async (): Promise<Incoming> => {
      if (source.kind === "archive") {
        const ending = new AbortController();
        const either = AbortSignal.any([this.#closing.signal, ending.signal]);
        const opened = await openArchive(source.url, either);
        return { ...source, ...opened, close: () => ending.abort() };
      }
      if (git === undefined) throw new Error("it has no repositories");
      const { location, base, commit } = release;
      const { signal } = this.#closing;
      const checkout = await git.fetchCommit(source, commit, signal);
      return {
        body: packCommit(name, checkout),
        ...{ format: "tar.gz", subdirectory: source.subdirectory },
        ...{ commit: checkout.commit, place: { location, base } },
        close: () => checkout.close(),
      };
    });
  }

  /** Starts or joins the fetch of a missing archive, which outlives its clients. */
  #fetch(
    address: ModuleReleaseAddress,
    open: () => Promise<Incoming>,
  ): Promise<ModuleArchive | ForeignRelease> {
    const name = formatModuleRelease(address);
    const running = this.#fetches.get(name);
    if (running !== undefined) return running;
    if (this.#fetches.size >= this.#around.limits.waiters)
      throw failure("too-busy", "modules being fetched");
    const place = {
      ...{ origin: address.module.hostname, isRead: true },
      cancel: () => undefined,
    };
    const fetch = this.#places
      .run(
        place,
        this.#closing.signal,
        async () =>
          (await this.#takeNearest(address)) ?? this.#receive(address, open),
      )
      .finally(() => this.#fetches.delete(name));
    this.#fetches.set(name, fetch);
    fetch.catch((error: unknown) => this.#logFailure(name, error));
    return fetch;
  }

  #logFailure(module: string, error: unknown): void {
    const facts = { module, error: (error as Error).message };
    this.#around.logger.warn(facts, "a module was not stored");
  }

  /** Takes an archive that another replica fetched; undefined for what cannot be had there now, which comes from its origin. */
  async #takeNearest(
    address: ModuleReleaseAddress,
  ): Promise<ModuleArchive | undefined> {
    const { nearest, pins } = this.#around;
    const known = nearest && (await pins.settle(address))?.archive;
    if (known === undefined) return undefined;
    const found = await nearest?.open(known.sha256);
    if (found === undefined) return undefined;
    const incoming = { ...known, ...found, checksum: known.sha256, known };
    try {
      return await this.#store(address, incoming);
    } catch (error) {
      if (isFailure(error, "checksum-conflict", "origin-answer"))
        nearest?.distrust(known.sha256);
      this.#logFailure(formatModuleRelease(address), error);
      return undefined;
    }
  }

  async #receive(
    address: ModuleReleaseAddress,
    open: () => Promise<Incoming>,
  ): Promise<ModuleArchive | ForeignRelease> {
    const { pins } = this.#around;
    let incoming: Incoming | undefined;
    try {
      incoming = await open();
      return await this.#store(address, incoming);
    } catch (error) {
      const { commit, place } = incoming ?? {};
      if (error instanceof NotPackable && commit !== undefined) {
        const foreign = error.message;
        const offered = { digest: commit, commit, place, foreign };
        await pins.admit(address, offered);
        return { foreign };
      }
      // What the mirror may not read, clients may: unless they have it already.
      if (
        isFailure(error, "origin-credentials") &&
        (await pins.settle(address)) === undefined
      )
        return { foreign: "a login" };
      throw error;
    } finally {
      await incoming?.close?.();
    }
  }

  /** Pinned before it is stored. */
  async #store(
    address: ModuleReleaseAddress,
    incoming: Incoming,
  ): Promise<ModuleArchive> {
    const { blobs, pins, threads } = this.#around;
    const { body, size, format, subdirectory, commit, place } = incoming;
    const name = formatModuleRelease(address);
    const named = { subject: "the module", size };
    return receiveWhole(this.#around, named, async (spool, append) => {
      const { checksum, known } = incoming;
      for await (const chunk of body) {
        this.#closing.signal.throwIfAborted();
        await append(chunk);
      }
      if (size !== undefined && spool.written !== size)
        throw failure(
          "origin-answer",
          name,
          `${spool.written} bytes came, ${size} were announced`,
        );
      const sha256 = spool.digest();
      if (checksum !== undefined && sha256 !== checksum)
        throw failure(
          "checksum-conflict",
          name,
          checksum,
          sha256,
          "the sha256 of what came",
        );
      const opened = { fd: spool.handle.fd, size: spool.written };
      await threads.verify(name, format, opened);
      const archive = { sha256, format, subdirectory, commit };
      const offered = { digest: commit ?? sha256, commit, place, archive };
      const kept = known ?? (await pins.admit(address, offered)).archive;
      await blobs.commit(spool, sha256);
      return kept ?? archive;
    });
  }

  async #listStored(module: ModuleAddress): Promise<readonly Version[]> {
    const versions = await listModuleVersions(this.#around.records, module);
    const found = await Promise.all(
      versions.map((version) => this.find({ module, version })),
    );
    return versions.filter((_, index) => isArchive(found[index]));
  }

  #originOf(module: ModuleAddress): ModuleOrigin {
    const { origins, admission } = this.#around;
    const origin = origins.get(module.hostname);
    if (origin !== undefined) return origin;
    admitElsewhere(admission.rules, module);
    throw failure("origin-not-served", module.hostname);
  }
}

/** Asks the registry where a release is now. The last place outlives its removal, and a new one that is refused. */
async function askRegistry(
  { registry, git }: ModuleOrigin,
  address: ModuleReleaseAddress,
  known: ModuleRelease | undefined,
  signal: AbortSignal,
): Promise<ModuleRelease> {
  const { module, version } = address;
  const { revision = 0 } = known ?? {};
  try {
    const found = await registry.findLocation(module, version, signal);
    const place = { location: found.location, base: found.base.href, revision };
    const source = sourceOf(address, place);
    if (source.kind !== "git") return { ...place, commit: undefined };
    const commit = await git?.findCommit(source, signal).catch(
      // What asks for a login is left to clients, unless it was open before.
      (error: unknown) => {
        if (known === undefined && isFailure(error, "origin-credentials"))
          return undefined;
        throw error;
      },
    );
    return { ...place, commit };
  } catch (error) {
    const isGone = isFailure(error, "not-found", "module-source-refused");
    if (known !== undefined && isGone) return known;
    throw error;
  }
}

/** Offers what is known of a release without fetching it; undefined for an archive. */
function offerOf(
  address: ModuleReleaseAddress,
  { location, base, commit }: ModuleRelease,
): ModuleOffer | undefined {
  const place = { location, base };
  if (commit !== undefined) return { digest: commit, commit, place };
  const source = sourceOf(address, place);
  if (source.kind !== "foreign") return undefined;
  const digest = hash("sha256", withoutQuery(location));
  return { digest, place, foreign: source.getter };
}

function sourceOf(
  address: ModuleReleaseAddress,
  { location, base }: ModulePlace,
): ModuleSource {
  return parseModuleSource(formatModuleRelease(address), location, base);
}

/** Milliseconds that a list waits for the dates of its versions. */
const datePatience = 3_000;

/** Lists versions with the dates that the registry claims of them, where they matter; one that comes late is left out. */
async function listDated(
  { registry }: ModuleOrigin,
  module: ModuleAddress,
  isDated: boolean,
  signal: AbortSignal,
): Promise<OriginVersions> {
  const none: ReadonlyMap<Version, Date> = new Map();
  const asked = isDated ? registry.listDates?.(module, signal) : undefined;
  const dating =
    asked && inTime(asked, datePatience, () => none).catch(() => none);
  const listed = await registry.listVersions(module, signal);
  const dates = (await dating) ?? none;
  const versions = listed.map((version) => {
    const published = dates.get(version);
    return { version, protocols: [], platforms: undefined, published };
  });
  return { versions, warnings: [] };
}

/** Divides `versions` into admitted and left out; either may be empty. */
function sortOut(
  { policy, mode }: AdmissionRules,
  module: ModuleAddress,
  versions: Iterable<Version>,
  list: VersionList | undefined,
  now: Date,
): ListedModule {
  const all = newestFirst(versions);
  const refused = all.flatMap((version): LeftOut | [] => {
    const decision = decideByRules(policy, module, version);
    if (decision.action === "deny") return leaveOutDenied(version, decision);
    const age = ageOf(version, list, decision.minimumAge, now);
    return age.old ? [] : leaveOutYoung(version, age);
  });
  const divided = divide(refused, mode === "report");
  const out = new Set(divided.leftOut.map(({ version }) => version));
  return { ...divided, list, versions: all.filter((one) => !out.has(one)) };
}

/**
 * Age counts from what the registry claims and from when the mirror first saw the version listed, whichever is later.
 * What nothing dates was public at first contact at the latest.
 */
function ageOf(
  version: Version,
  list: VersionList | undefined,
  minimumAge: number,
  now: Date,
) {
  const entry = list?.versions.get(version);
  return decideByAge(
    { minimumAge, isUnlisted: !entry, seenAt: entry?.appeared, now },
    entry?.published ?? list?.firstContact,
  );
}
