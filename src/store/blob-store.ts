import {
  access,
  chmod,
  constants,
  copyFile,
  link,
  open,
  readdir,
  rm,
  stat,
} from "node:fs/promises";
import { join } from "node:path";
import type { FileHandle } from "node:fs/promises";
import type { Sha256 } from "../address/hash.ts";
import { commitFile } from "./durable-file.ts";
import { blobPath, stagingPath, type StoreLayout } from "./layout.ts";
import { Spool } from "./spool.ts";

/** Sharing blocks where the file system can. */
const copyFlags = constants.COPYFILE_EXCL | constants.COPYFILE_FICLONE;

/** A whole archive on disk, open for reading; close it when done. */
export interface StoredBlob {
  readonly sha256: Sha256;
  readonly size: number;
  readonly handle: FileHandle;
}

/** Whole, verified archives, named by their SHA-256; `commit` is the only way in. */
export class BlobStore {
  readonly #layout: StoreLayout;

  constructor(layout: StoreLayout) {
    this.#layout = layout;
  }

  /** Opens a blob, or undefined when there is none. */
  async open(sha256: Sha256): Promise<StoredBlob | undefined> {
    const handle = await openIfPresent(blobPath(this.#layout, sha256));
    if (handle === undefined) return undefined;
    const { size } = await handle.stat();
    return { sha256, size, handle };
  }

  /** The size in bytes, or undefined when there is no such blob. */
  async size(sha256: Sha256): Promise<number | undefined> {
    try {
      return (await stat(blobPath(this.#layout, sha256))).size;
    } catch (error) {
      if (isMissing(error)) return undefined;
      throw error;
    }
  }

  async createSpool(): Promise<Spool> {
    return Spool.create(stagingPath(this.#layout, "archive"));
  }

  /** Durable on return. The caller has compared the spool's digest with `sha256`. */
  async commit(spool: Spool, sha256: Sha256): Promise<void> {
    await commitFile(spool.handle, spool.path, blobPath(this.#layout, sha256));
  }

  /**
   * Gives a blob another name on this machine, which must be free and which
   * everybody may read: a hard link where the file system allows it, else a copy.
   * The name cannot be written through, because the bytes are the store's. False
   * when there is no such blob.
   */
  async giveOut(sha256: Sha256, path: string): Promise<boolean> {
    const blob = blobPath(this.#layout, sha256);
    try {
      await link(blob, path).catch(() => copyFile(blob, path, copyFlags));
      await chmod(path, 0o444);
      await using file = await open(path, "r");
      await file.sync();
      return true;
    } catch (error) {
      if (isMissing(error) && (await this.size(sha256)) === undefined)
        return false;
      throw error;
    }
  }

  async delete(sha256: Sha256): Promise<void> {
    await rm(blobPath(this.#layout, sha256), { force: true });
  }

  /** Throws unless the store can be read and written now. */
  async probe(): Promise<void> {
    const allowed = constants.R_OK | constants.W_OK | constants.X_OK;
    await access(this.#layout.blobs, allowed);
    await access(this.#layout.staging, allowed);
  }

  /** Removes what an earlier process left in staging; files made after `before` stay. */
  async sweepStaging(before: Date): Promise<number> {
    let removed = 0;
    for (const name of await readdir(this.#layout.staging)) {
      const path = join(this.#layout.staging, name);
      const found = await stat(path).catch(() => undefined);
      if (found === undefined || found.mtime >= before) continue;
      await rm(path, { force: true, recursive: true });
      removed++;
    }
    return removed;
  }
}

async function openIfPresent(path: string): Promise<FileHandle | undefined> {
  try {
    return await open(path, "r");
  } catch (error) {
    if (isMissing(error)) return undefined;
    throw error;
  }
}

function isMissing(error: unknown): boolean {
  return (error as NodeJS.ErrnoException).code === "ENOENT";
}
