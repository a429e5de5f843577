import type { Sha256 } from "../../address/hash.ts";
import { ArchiveDigestWrong } from "../../errors/index.ts";
import type { BlobStore } from "../../store/blobs/blob-store.ts";
import type { Spool } from "../../store/blobs/spool.ts";
import { leaseName } from "../../store/layout.ts";
import type { OpenArchive } from "../../verification/archives/open-archive.ts";
import type { ArchiveFormat } from "../../address/module-archive-name.ts";
import type { NearestOrigin } from "../cache/nearest-origin.ts";
import type { Reserve } from "../cache/download-steps.ts";
import { receiveWhole } from "../cache/receive-whole.ts";
import type { ModuleArchiveRecords } from "./records.ts";
import {
  formatModuleRelease,
  isArchive,
  type ForeignRelease,
  type ModuleArchive,
  type ModuleReleaseAddress,
} from "./release.ts";

export interface NearestArchivesParts {
  readonly blobs: BlobStore;
  readonly records: ModuleArchiveRecords;
  readonly reserve: Reserve;
  readonly nearest: NearestOrigin | undefined;
  /** Throws ModuleArchiveRefused. */
  readonly verify: (
    module: string,
    format: ArchiveFormat,
    archive: OpenArchive,
  ) => Promise<void>;
  readonly onFailed: (module: string, error: unknown) => void;
}

/** Archives of modules that were seen first elsewhere: they come from there whole, and are looked through as an origin's are. */
export class NearestArchives {
  readonly #parts: NearestArchivesParts;

  constructor(parts: NearestArchivesParts) {
    this.#parts = parts;
  }

  /** What another one fetched, which may take until it has; undefined when it has to come from its origin. Call `settle` in any case. */
  async lead(
    address: ModuleReleaseAddress,
    signal: AbortSignal,
  ): Promise<ModuleArchive | ForeignRelease | undefined> {
    const { nearest, records } = this.#parts;
    if (nearest === undefined) return undefined;
    const before = await records.read(address);
    const brought = await this.#bring(address, before);
    if (brought !== undefined) return brought;
    const isDone = async () => {
      const now = await records.read(address);
      return isArchive(now)
        ? nearest.has(now.sha256)
        : before === undefined && now !== undefined;
    };
    await nearest.leadNamed(nameOf(address), isDone, signal);
    const now = await records.read(address);
    return before === undefined && !isArchive(now)
      ? now
      : this.#bring(address, now);
  }

  settle(address: ModuleReleaseAddress, fetched: Sha256 | undefined): void {
    this.#parts.nearest?.settleNamed(nameOf(address), fetched);
  }

  async #bring(
    address: ModuleReleaseAddress,
    archive: ModuleArchive | ForeignRelease | undefined,
  ): Promise<ModuleArchive | undefined> {
    if (!isArchive(archive)) return undefined;
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
      if (error instanceof ArchiveDigestWrong)
        nearest?.distrust(archive.sha256);
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
    if (got !== sha256) throw new ArchiveDigestWrong(module, sha256, got);
    const place = { fd: spool.handle.fd, size: spool.written };
    await this.#parts.verify(module, format, place);
    await this.#parts.blobs.commit(spool, sha256);
  }
}

function nameOf(address: ModuleReleaseAddress): string {
  return leaseName("modules", formatModuleRelease(address));
}
