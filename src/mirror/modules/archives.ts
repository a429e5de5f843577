import { isDeepStrictEqual } from "node:util";
import type { ArchiveFormat } from "../../address/module-archive-name.ts";
import type { Checksum } from "../../address/module-source.ts";
import { ModuleReplaced, NotReady, TooBusy } from "../../errors/index.ts";
import type { Spool } from "../../store/blobs/spool.ts";
import { receiveWhole } from "../cache/receive-whole.ts";
import { FairShare, type Sharer, type Turn } from "../cache/fair-share.ts";
import { NotPackable } from "./packing/archive.ts";
import { receiveModule, type OpenedModule } from "./received-module.ts";
import {
  NearestArchives,
  type NearestArchivesParts,
} from "./nearest-archives.ts";
import type { ModuleReplacements } from "./replacements.ts";
import {
  formatModuleRelease,
  isArchive,
  type ForeignRelease,
  type ModuleArchive,
  type ModuleReleaseAddress,
} from "./release.ts";

/** How a missing archive is fetched; it takes of the share of its origin, of its namespace and of its host. */
export interface ModuleStart {
  readonly hostname: string;
  /** Where the archive or the repository is. */
  readonly host: string;
  readonly format: ArchiveFormat;
  readonly subdirectory: string;
  readonly checksum: Checksum | undefined;
  readonly open: (signal: AbortSignal) => Promise<OpenedModule>;
}

interface ModuleArchivesParts extends NearestArchivesParts {
  readonly limits: {
    readonly fills: number;
    readonly fillsPerOrigin: number;
    readonly waiters: number;
  };
  readonly onFirstSeen: (
    address: ModuleReleaseAddress,
    archive: ModuleArchive,
  ) => Promise<void>;
  readonly replacements: ModuleReplacements;
}

/**
 * Archives of modules: nobody signs them, so the first content that was seen of a release is the one that counts. They are fetched whole and
 * looked through before anybody gets a byte; at most one fetch a release.
 */
export class ModuleArchives {
  readonly #parts: ModuleArchivesParts;
  readonly #fills = new Map<string, Fill>();
  readonly #share: FairShare;
  readonly #nearest: NearestArchives;
  readonly #closing = new AbortController();

  constructor(parts: ModuleArchivesParts) {
    this.#parts = parts;
    this.#share = new FairShare(parts.limits);
    this.#nearest = new NearestArchives(parts);
  }

  /** What is recorded of a release and, if that is an archive, stored. */
  async find(
    address: ModuleReleaseAddress,
  ): Promise<ModuleArchive | ForeignRelease | undefined> {
    const { blobs, records } = this.#parts;
    const archive = await records.read(address);
    if (!isArchive(archive)) return archive;
    const size = await blobs.size(archive.sha256);
    return size === undefined ? undefined : archive;
  }

  /**
   * Starts or joins the fetch of what is not stored; it goes on without its askers, but makes way when all of them have left and others
   * wait. Throws TooBusy, ModuleReplaced, StoreFull and what `start` throws.
   */
  async fetch(
    address: ModuleReleaseAddress,
    start: ModuleStart,
    asker: AbortSignal,
  ): Promise<ModuleArchive | ForeignRelease> {
    const name = formatModuleRelease(address);
    const fill = this.#fills.get(name) ?? this.#start(name, address, start);
    if (!asker.aborted) fill.askers.add(asker);
    asker.addEventListener("abort", () => fill.askers.delete(asker));
    return fill.result;
  }

  /** Throws ModuleReplaced, with the alarm, where an archive was seen of what only clients can fetch now. */
  async expectForeign(
    address: ModuleReleaseAddress,
    getter: string,
  ): Promise<void> {
    const first = await this.#parts.records.read(address);
    if (!isArchive(first)) return;
    const expected = `SHA-256 ${first.sha256}`;
    const got = `a place of which only clients can fetch it (${getter})`;
    await this.#refuse(address, expected, got);
  }

  /** Of an archive that nobody fetches from the registry. Throws ModuleReplaced, with the alarm, where another was seen first. */
  async expectSame(
    address: ModuleReleaseAddress,
    archive: ModuleArchive,
  ): Promise<void> {
    const first = await this.#parts.records.read(address);
    if (!isArchive(first)) return;
    if (isDeepStrictEqual(first, archive)) return;
    const [expected = "", got = ""] = [first, archive].map(describe);
    await this.#refuse(address, expected, got);
  }

  /** Ends the fetches; resolves when their files are gone. */
  async close(): Promise<void> {
    this.#closing.abort(new NotReady("it is stopping"));
    const results = [...this.#fills.values()].map(({ result }) => result);
    await Promise.allSettled(results);
  }

  #start(
    name: string,
    address: ModuleReleaseAddress,
    start: ModuleStart,
  ): Fill {
    if (this.#fills.size >= this.#parts.limits.waiters)
      throw new TooBusy("modules being fetched");
    const askers = new Set<AbortSignal>();
    const sharer = {
      origin: start.hostname,
      namespace: address.module.namespace,
      isWanted: () => askers.size > 0,
    };
    const result = this.#fill(address, start, sharer).finally(() =>
      this.#fills.delete(name),
    );
    const fill = { askers, result };
    this.#fills.set(name, fill);
    result.catch((error: unknown) => this.#parts.onFailed(name, error));
    return fill;
  }

  async #fill(
    address: ModuleReleaseAddress,
    start: ModuleStart,
    sharer: Sharer,
  ): Promise<ModuleArchive | ForeignRelease> {
    using turn = await this.#share.take(sharer, this.#closing.signal);
    turn.signal.throwIfAborted();
    return (
      (await this.#nearest.bring(address)) ??
      (await this.#fetch(address, start, turn))
    );
  }

  async #fetch(
    address: ModuleReleaseAddress,
    start: ModuleStart,
    turn: Turn,
  ): Promise<ModuleArchive | ForeignRelease> {
    turn.noteHost(start.host);
    let opened: OpenedModule | undefined;
    try {
      const module = await start.open(turn.signal);
      opened = module;
      const named = { subject: "the module", size: module.size };
      return await receiveWhole(this.#parts, named, async (spool, append) => {
        await receiveModule(module, address, start.checksum, async (chunk) => {
          await turn.proceed();
          await append(chunk);
        });
        return this.#keep(address, start, spool, module.commit);
      });
    } catch (error) {
      if (error instanceof NotPackable)
        return await this.#keepForeign(address, error.message);
      throw error;
    } finally {
      await opened?.close();
    }
  }

  async #keepForeign(
    address: ModuleReleaseAddress,
    foreign: string,
  ): Promise<ModuleArchive | ForeignRelease> {
    await this.expectForeign(address, foreign);
    // An archive that another process saw first meanwhile stays.
    return this.#parts.records.keep(address, { foreign }, undefined);
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
    const kept = await this.#expectFirst(address, first, archive);
    await blobs.commit(spool, sha256);
    const now = await records.keep(address, kept, first);
    if (now !== kept) return this.#expectFirst(address, now, kept);
    if (first === undefined) await onFirstSeen(address, kept);
    return kept;
  }

  /** The same commit may be packed into other bytes by another version of the mirror. Throws ModuleReplaced. */
  async #expectFirst(
    address: ModuleReleaseAddress,
    first: ModuleArchive | ForeignRelease | undefined,
    archive: ModuleArchive,
  ): Promise<ModuleArchive> {
    if (!isArchive(first)) return archive;
    const [expected = "", got = ""] =
      first.commit === undefined || archive.commit === undefined
        ? [`SHA-256 ${first.sha256}`, `SHA-256 ${archive.sha256}`]
        : [`commit ${first.commit}`, `commit ${archive.commit}`];
    if (expected === got)
      return { ...archive, subdirectory: first.subdirectory };
    return this.#refuse(address, expected, got);
  }

  async #refuse(
    address: ModuleReleaseAddress,
    expected: string,
    got: string,
  ): Promise<never> {
    await this.#parts.replacements.note(address, expected, got);
    throw new ModuleReplaced(formatModuleRelease(address), expected, got);
  }
}

/** One fetch, and who waits for it. */
interface Fill {
  readonly askers: Set<AbortSignal>;
  readonly result: Promise<ModuleArchive | ForeignRelease>;
}

function describe(archive: ModuleArchive): string {
  const { sha256, format, subdirectory, commit } = archive;
  const from = commit === undefined ? "" : ` of commit ${commit}`;
  return `SHA-256 ${sha256} (${format}, folder "${subdirectory}")${from}`;
}
