import type { ArchiveFormat } from "../../address/module-archive-name.ts";
import type { Checksum } from "../../address/module-source.ts";
import { failure, isFailure } from "../../errors/index.ts";
import type { Spool } from "../../store/blobs/spool.ts";
import { receiveWhole, type Reserve } from "../archives/room.ts";
import { DownloadPlaces, type PlaceLimits } from "../archives/places.ts";
import { NotPackable } from "./git-packing.ts";
import {
  type ForeignRelease,
  formatModuleRelease,
  makeOffer,
  type ModuleArchive,
  type ModulePlace,
  type ModuleReleaseAddress,
} from "./release.ts";
import type { ModulePins } from "./pins.ts";
import { createHash } from "node:crypto";
import type { BlobStore } from "../../store/blobs/blob-store.ts";
import type { OpenArchive } from "../../verification/archives/open-archive.ts";
import type { NearestOrigin } from "../archives/archives.ts";

/** Source of a missing archive. */
export interface ModuleStart {
  readonly hostname: string;
  /** Undefined for what no commit names. */
  readonly place: ModulePlace | undefined;
  readonly format: ArchiveFormat;
  readonly subdirectory: string;
  readonly checksum: Checksum | undefined;
  readonly open: (signal: AbortSignal) => Promise<OpenedModule>;
}

interface ModuleArchivesParts extends NearestArchivesParts {
  readonly limits: PlaceLimits & { readonly waiters: number };
  readonly pins: ModulePins;
}

/**
 * Archives of modules. An archive is fetched whole and inspected before a
 * client gets a byte, with at most one fetch a release.
 */
export class ModuleArchives {
  readonly #parts: ModuleArchivesParts;
  readonly #fills = new Map<string, Fill>();
  readonly #places: DownloadPlaces;
  readonly #nearest: NearestArchives;
  readonly #closing = new AbortController();

  constructor(parts: ModuleArchivesParts) {
    this.#parts = parts;
    this.#places = new DownloadPlaces(parts.limits);
    this.#nearest = new NearestArchives(parts);
  }

  /** Finds what clients get of a release: its archive where that is stored, or why only they can fetch it. */
  async find(
    address: ModuleReleaseAddress,
  ): Promise<ModuleArchive | ForeignRelease | undefined> {
    const { blobs, pins } = this.#parts;
    const { archive, foreign } = (await pins.settle(address)) ?? {};
    if (foreign !== undefined) return { foreign };
    const size = archive && (await blobs.size(archive.sha256));
    return size === undefined ? undefined : archive;
  }

  /**
   * Starts or joins the fetch of a missing archive. It outlives its clients, but makes way when all of them have left
   * and other fetches wait.
   */
  async fetch(
    address: ModuleReleaseAddress,
    start: ModuleStart,
    asker: AbortSignal,
  ): Promise<ModuleArchive | ForeignRelease> {
    const name = formatModuleRelease(address);
    const fill = this.#fills.get(name) ?? this.#start(name, address, start);
    if (!asker.aborted) fill.askers.add(asker);
    asker.addEventListener("abort", () => {
      fill.askers.delete(asker);
      this.#places.makeWay();
    });
    return fill.result;
  }

  /** Compares an archive that comes from no origin with what clients get; false where nothing is known. */
  async expectSame(
    address: ModuleReleaseAddress,
    archive: ModuleArchive,
  ): Promise<boolean> {
    const offered = makeOffer(archive.sha256, { archive });
    return this.#parts.pins.expectSame(address, offered);
  }

  /** Ends the fetches; resolves when their files are gone. */
  async close(): Promise<void> {
    this.#closing.abort(failure("not-ready", "it is stopping"));
    const results = [...this.#fills.values()].map(({ result }) => result);
    await Promise.allSettled(results);
  }

  #start(
    name: string,
    address: ModuleReleaseAddress,
    start: ModuleStart,
  ): Fill {
    if (this.#fills.size >= this.#parts.limits.waiters)
      throw failure("too-busy", "modules being fetched");
    const askers = new Set<AbortSignal>();
    const ending = new AbortController();
    const download = {
      origin: start.hostname,
      isWanted: () => askers.size > 0,
      end: (reason: unknown) => ending.abort(reason),
    };
    const signal = AbortSignal.any([this.#closing.signal, ending.signal]);
    const result = this.#places
      .run(download, signal, () => this.#fill(address, start, signal))
      .finally(() => this.#fills.delete(name));
    const fill = { askers, result };
    this.#fills.set(name, fill);
    result.catch((error: unknown) => this.#parts.onFailed(name, error));
    return fill;
  }

  async #fill(
    address: ModuleReleaseAddress,
    start: ModuleStart,
    signal: AbortSignal,
  ): Promise<ModuleArchive | ForeignRelease> {
    return (
      (await this.#nearest.bring(address)) ??
      (await this.#fetch(address, start, signal))
    );
  }

  async #fetch(
    address: ModuleReleaseAddress,
    start: ModuleStart,
    signal: AbortSignal,
  ): Promise<ModuleArchive | ForeignRelease> {
    let opened: OpenedModule | undefined;
    try {
      const module = await start.open(signal);
      opened = module;
      const named = { subject: "the module", size: module.size };
      return await receiveWhole(this.#parts, named, async (spool, append) => {
        await receiveModule(module, address, start.checksum, async (chunk) => {
          signal.throwIfAborted();
          await append(chunk);
        });
        return this.#keep(address, start, spool, module.commit);
      });
    } catch (error) {
      const commit = opened?.commit;
      if (error instanceof NotPackable && commit !== undefined)
        return await this.#keepForeign(address, start, commit, error.message);
      // What the mirror may not read, clients may: unless they have it already.
      if (
        isFailure(error, "origin-credentials") &&
        (await this.#parts.pins.settle(address)) === undefined
      )
        return { foreign: "a login" };
      throw error;
    } finally {
      await opened?.close();
    }
  }

  async #keepForeign(
    address: ModuleReleaseAddress,
    { place }: ModuleStart,
    commit: string,
    foreign: string,
  ): Promise<ForeignRelease> {
    const offered = makeOffer(commit, { commit, place, foreign });
    await this.#parts.pins.admit(address, offered);
    return { foreign };
  }

  async #keep(
    address: ModuleReleaseAddress,
    { format, subdirectory, place }: ModuleStart,
    spool: Spool,
    commit: string | undefined,
  ): Promise<ModuleArchive> {
    const { blobs, pins, verify } = this.#parts;
    const sha256 = spool.digest();
    const archive = { sha256, format, subdirectory, commit };
    const opened = { fd: spool.handle.fd, size: spool.written };
    await verify(formatModuleRelease(address), format, opened);
    const offered = makeOffer(commit ?? sha256, { commit, place, archive });
    // Pinned before it is stored.
    const kept = (await pins.admit(address, offered)).archive ?? archive;
    await blobs.commit(spool, sha256);
    return kept;
  }
}

/** Fetch under way, and the clients that wait for it. */
interface Fill {
  readonly askers: Set<AbortSignal>;
  readonly result: Promise<ModuleArchive | ForeignRelease>;
}

/** A module's archive that starts to arrive. */
interface OpenedModule {
  readonly body: AsyncIterable<Uint8Array>;
  /** Bytes; undefined when it was not announced. */
  readonly size: number | undefined;
  /** Commit that a git source was packed from. */
  readonly commit: string | undefined;
  /** Lets go of what it comes from, also where nothing of the body was read. */
  readonly close: () => Promise<void>;
}

async function receiveModule(
  { body, size }: OpenedModule,
  address: ModuleReleaseAddress,
  checksum: Checksum | undefined,
  append: (chunk: Uint8Array) => Promise<void>,
): Promise<void> {
  const name = formatModuleRelease(address);
  const hash = checksum && createHash(checksum.algorithm);
  let written = 0;
  for await (const chunk of body) {
    await append(chunk);
    hash?.update(chunk);
    written += chunk.length;
  }
  if (size !== undefined && written !== size)
    throw failure(
      "origin-answer",
      name,
      `${written} bytes came, ${size} were announced`,
    );
  const got = hash?.digest("hex");
  if (checksum !== undefined && got !== checksum.digest)
    throw failure(
      "checksum-conflict",
      name,
      checksum.digest,
      String(got),
      `the ${checksum.algorithm} of what came`,
    );
}

interface NearestArchivesParts {
  readonly blobs: BlobStore;
  readonly pins: Pick<ModulePins, "settle">;
  readonly reserve: Reserve;
  readonly nearest: NearestOrigin | undefined;
  readonly verify: (
    module: string,
    format: ArchiveFormat,
    archive: OpenArchive,
  ) => Promise<void>;
  readonly onFailed: (module: string, error: unknown) => void;
}

/** Archives of modules that another replica fetched: they come from there whole, and are looked through as an origin's are. */
class NearestArchives {
  readonly #parts: NearestArchivesParts;

  constructor(parts: NearestArchivesParts) {
    this.#parts = parts;
  }

  /** Undefined for what no other replica fetched, and what cannot be had now: it comes from its origin. */
  async bring(
    address: ModuleReleaseAddress,
  ): Promise<ModuleArchive | undefined> {
    const { nearest, pins } = this.#parts;
    if (nearest === undefined) return undefined;
    const archive = (await pins.settle(address))?.archive;
    if (archive === undefined) return undefined;
    const isHere = await this.#fetch(formatModuleRelease(address), archive);
    return isHere ? archive : undefined;
  }

  async #fetch(module: string, archive: ModuleArchive): Promise<boolean> {
    const { nearest, onFailed } = this.#parts;
    const found = await nearest?.open(archive.sha256);
    if (found === undefined) return false;
    const { size, body } = found;
    try {
      await receiveWhole(
        this.#parts,
        { subject: "the module", size },
        async (spool, append) => {
          for await (const piece of body) await append(piece);
          await this.#keep(module, archive, spool);
        },
      );
      return true;
    } catch (error) {
      if (isFailure(error, "archive-digest")) nearest?.distrust(archive.sha256);
      onFailed(module, error);
      return false;
    }
  }

  async #keep(
    module: string,
    { sha256, format }: ModuleArchive,
    spool: Spool,
  ): Promise<void> {
    const got = spool.digest();
    if (got !== sha256) throw failure("archive-digest", module, sha256, got);
    const place = { fd: spool.handle.fd, size: spool.written };
    await this.#parts.verify(module, format, place);
    await this.#parts.blobs.commit(spool, sha256);
  }
}
