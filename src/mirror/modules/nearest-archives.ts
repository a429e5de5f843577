import { failure, isFailure } from "../../errors/index.ts";
import type { BlobStore } from "../../store/blobs/blob-store.ts";
import type { Spool } from "../../store/blobs/spool.ts";
import type { OpenArchive } from "../../verification/archives/open-archive.ts";
import type { ArchiveFormat } from "../../address/module-archive-name.ts";
import type { NearestOrigin } from "../archives/archives.ts";
import { receiveWhole, type Reserve } from "../archives/room.ts";
import {
  formatModuleRelease,
  type ModuleArchive,
  type ModuleReleaseAddress,
} from "./release.ts";
import type { ModuleSettlements } from "./settlements.ts";

export interface NearestArchivesParts {
  readonly blobs: BlobStore;
  readonly settlements: Pick<ModuleSettlements, "settle">;
  readonly reserve: Reserve;
  readonly nearest: NearestOrigin | undefined;
  /** Throws module-archive-refused. */
  readonly verify: (
    module: string,
    format: ArchiveFormat,
    archive: OpenArchive,
  ) => Promise<void>;
  readonly onFailed: (module: string, error: unknown) => void;
}

/** Archives of modules that another replica fetched: they come from there whole, and are looked through as an origin's are. */
export class NearestArchives {
  readonly #parts: NearestArchivesParts;

  constructor(parts: NearestArchivesParts) {
    this.#parts = parts;
  }

  /** Undefined for what no other replica fetched, and what cannot be had now: it comes from its origin. */
  async bring(
    address: ModuleReleaseAddress,
  ): Promise<ModuleArchive | undefined> {
    const { nearest, settlements } = this.#parts;
    if (nearest === undefined) return undefined;
    const archive = (await settlements.settle(address))?.archive;
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
