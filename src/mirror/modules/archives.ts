import { createHash } from "node:crypto";
import pLimit, { type LimitFunction } from "p-limit";
import type { ArchiveFormat } from "../../address/module-archive-name.ts";
import type { Checksum } from "../../address/module-source.ts";
import {
  ChecksumConflict,
  ModuleReplaced,
  OriginAnswerUnusable,
  TooBusy,
} from "../../errors/index.ts";
import type { BlobStore } from "../../store/blobs/blob-store.ts";
import type { Spool } from "../../store/blobs/spool.ts";
import type { OpenArchive } from "../../verification/archives/open-archive.ts";
import { NotPackable } from "./packing/threads.ts";
import type { ModuleArchiveRecords } from "./records.ts";
import {
  formatModuleRelease,
  type ForeignRelease,
  type ModuleArchive,
  type ModuleReleaseAddress,
} from "./release.ts";

/** A module's archive that starts to arrive. */
export interface OpenedModule {
  readonly body: AsyncIterable<Uint8Array>;
  /** Bytes; undefined when nobody announced it. */
  readonly size: number | undefined;
  /** What a git source was packed from. */
  readonly commit: string | undefined;
}

/** How a missing archive is fetched; `hostname` is the origin whose share of the downloads it takes. */
export interface ModuleStart {
  readonly hostname: string;
  readonly format: ArchiveFormat;
  readonly subdirectory: string;
  readonly checksum: Checksum | undefined;
  readonly open: (signal: AbortSignal) => Promise<OpenedModule>;
}

export interface ModuleArchivesParts {
  readonly blobs: BlobStore;
  readonly records: ModuleArchiveRecords;
  readonly limits: {
    readonly fills: number;
    readonly fillsPerOrigin: number;
    readonly waiters: number;
  };
  /** Throws ModuleArchiveRefused. */
  readonly verify: (
    module: string,
    format: ArchiveFormat,
    archive: OpenArchive,
  ) => Promise<void>;
  readonly onFirstSeen: (
    address: ModuleReleaseAddress,
    archive: ModuleArchive,
  ) => Promise<void>;
  readonly onReplaced: (
    address: ModuleReleaseAddress,
    expected: string,
    got: string,
  ) => void;
  readonly onFailed: (module: string, error: unknown) => void;
}

/**
 * Archives of modules: nobody signs them, so the first content that was seen of a release is the one that counts. They are fetched whole and
 * looked through before anybody gets a byte; at most one fetch a release.
 */
export class ModuleArchives {
  readonly #parts: ModuleArchivesParts;
  readonly #fills = new Map<string, Promise<ModuleArchive | ForeignRelease>>();
  readonly #all: LimitFunction;
  readonly #perOrigin = new Map<string, LimitFunction>();
  readonly #closing = new AbortController();

  constructor(parts: ModuleArchivesParts) {
    this.#parts = parts;
    this.#all = pLimit(parts.limits.fills);
  }

  /** What is recorded of a release and, if that is an archive, stored. */
  async find(
    address: ModuleReleaseAddress,
  ): Promise<ModuleArchive | ForeignRelease | undefined> {
    const { blobs, records } = this.#parts;
    const archive = await records.read(address);
    if (archive === undefined || "foreign" in archive) return archive;
    const size = await blobs.size(archive.sha256);
    return size === undefined ? undefined : archive;
  }

  /** Starts or joins the fetch of what is not stored; detached from the askers. */
  async fetch(
    address: ModuleReleaseAddress,
    start: ModuleStart,
  ): Promise<ModuleArchive | ForeignRelease> {
    const name = formatModuleRelease(address);
    const running = this.#fills.get(name);
    if (running !== undefined) return running;
    if (this.#fills.size >= this.#parts.limits.waiters)
      throw new TooBusy("modules being fetched");
    const fill = this.#shareOf(start.hostname)(() =>
      this.#all(() => this.#fill(address, start)),
    ).finally(() => this.#fills.delete(name));
    this.#fills.set(name, fill);
    fill.catch((error: unknown) => this.#parts.onFailed(name, error));
    return fill;
  }

  /** Ends the fetches; resolves when their files are gone. */
  async close(): Promise<void> {
    this.#closing.abort();
    await Promise.allSettled(this.#fills.values());
  }

  /** The origin's own bound comes first, so that one slow origin cannot take every slot. */
  #shareOf(hostname: string): LimitFunction {
    const share =
      this.#perOrigin.get(hostname) ??
      pLimit(this.#parts.limits.fillsPerOrigin);
    this.#perOrigin.set(hostname, share);
    return share;
  }

  async #fill(
    address: ModuleReleaseAddress,
    start: ModuleStart,
  ): Promise<ModuleArchive | ForeignRelease> {
    const { signal } = this.#closing;
    signal.throwIfAborted();
    const spool = await this.#parts.blobs.createSpool();
    try {
      const opened = await start.open(signal);
      await receive(spool, opened, address, start.checksum);
      return await this.#keep(address, start, spool, opened.commit);
    } catch (error) {
      await spool.remove();
      if (error instanceof NotPackable)
        return await this.#keepForeign(address, error.message);
      throw error;
    } finally {
      await spool.release();
    }
  }

  async #keepForeign(
    address: ModuleReleaseAddress,
    foreign: string,
  ): Promise<ModuleArchive | ForeignRelease> {
    const { records } = this.#parts;
    return records.keep(address, { foreign }, await records.read(address));
  }

  async #keep(
    address: ModuleReleaseAddress,
    { format, subdirectory }: ModuleStart,
    spool: Spool,
    commit: string | undefined,
  ): Promise<ModuleArchive> {
    const { blobs, records, verify, onFirstSeen } = this.#parts;
    const sha256 = spool.digest();
    const archive = { sha256, format, subdirectory, commit };
    const place = { fd: spool.handle.fd, size: spool.written };
    await verify(formatModuleRelease(address), format, place);
    const first = await records.read(address);
    const kept = this.#expectFirst(address, first, archive);
    await blobs.commit(spool, sha256);
    const now = await records.keep(address, kept, first);
    if (now !== kept) return this.#expectFirst(address, now, kept);
    if (first === undefined) await onFirstSeen(address, kept);
    return kept;
  }

  /** The same commit may be packed into other bytes by another version of the mirror. Throws ModuleReplaced. */
  #expectFirst(
    address: ModuleReleaseAddress,
    first: ModuleArchive | ForeignRelease | undefined,
    archive: ModuleArchive,
  ): ModuleArchive {
    if (first === undefined || "foreign" in first) return archive;
    const [expected, got] =
      first.commit === undefined || archive.commit === undefined
        ? [`SHA-256 ${first.sha256}`, `SHA-256 ${archive.sha256}`]
        : [`commit ${first.commit}`, `commit ${archive.commit}`];
    if (expected === got)
      return { ...archive, subdirectory: first.subdirectory };
    this.#parts.onReplaced(address, expected, got);
    throw new ModuleReplaced(formatModuleRelease(address), expected, got);
  }
}

async function receive(
  spool: Spool,
  { body, size }: OpenedModule,
  address: ModuleReleaseAddress,
  checksum: Checksum | undefined,
): Promise<void> {
  const name = formatModuleRelease(address);
  const hash = checksum && createHash(checksum.algorithm);
  for await (const chunk of body) {
    await spool.append(chunk);
    hash?.update(chunk);
  }
  const { written } = spool;
  if (size !== undefined && written !== size)
    throw new OriginAnswerUnusable(
      name,
      `${written} bytes came, ${size} were announced`,
    );
  const got = hash?.digest("hex");
  if (checksum !== undefined && got !== checksum.digest)
    throw new ChecksumConflict(
      name,
      checksum.digest,
      String(got),
      `the ${checksum.algorithm} of what came`,
    );
}
