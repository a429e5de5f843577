import {
  access,
  chmod,
  constants,
  copyFile,
  type FileHandle,
  link,
  lstat,
  mkdir,
  open,
  readdir,
  rename,
  rm,
  stat,
  statfs,
} from "node:fs/promises";
import { dirname, join } from "node:path";
import { isSha256, type Sha256 } from "../../address/hash.ts";
import { failure, isFailure } from "../../errors/index.ts";
import { plainFileFlags } from "../durable-file.ts";
import {
  classifyFileFailure,
  describeFailure,
  unlessMissing,
} from "../file-failure.ts";
import type { Database } from "../database/transactions.ts";
import { blobPath, stagingPath, type StoreLayout } from "../layout.ts";
import { hashFile, readBlobState, VerifiedBlobs } from "./verified-blobs.ts";
import { Spool } from "./spool.ts";
import { BlobUsage } from "./usage.ts";

/** Sharing blocks where the file system can. */
const copyFlags = constants.COPYFILE_EXCL | constants.COPYFILE_FICLONE;

/** An archive on disk, open for reading; close it when done. */
export interface StoredBlob {
  readonly sha256: Sha256;
  readonly size: number;
  readonly handle: FileHandle;
}

/** One name below the folder of the blobs. */
export interface ListedBlob {
  /** Undefined for what is no blob by its name or its place. */
  readonly sha256: Sha256 | undefined;
  readonly path: string;
  /** Bytes. */
  readonly size: number;
}

/** A stored archive and when it was last used. */
export interface UsedBlob {
  readonly sha256: Sha256;
  /** Bytes. */
  readonly size: number;
  /** Milliseconds since 1970; when it was stored, where it was not used since. */
  readonly usedAt: number;
}

export interface BlobCount {
  readonly archives: number;
  readonly bytes: number;
}

/** Never waited for. */
interface BlobEvents {
  /** A blob was dropped, because it is damaged or unreadable. */
  readonly onDamaged?: (sha256: Sha256, problem: string) => void;
  /** One more is in the store, of so many bytes. */
  readonly onStored?: (size: number, sha256: Sha256) => void;
}

/** Archives named by their SHA-256; `commit` is the only way in, and `verify` finds out what the disk did to them since. */
export class BlobStore {
  readonly usage: BlobUsage;
  readonly #layout: StoreLayout;
  readonly #listeners: BlobEvents[] = [];
  readonly #verified = new VerifiedBlobs();

  constructor(layout: StoreLayout, database: Database) {
    this.usage = new BlobUsage(database);
    this.#layout = layout;
  }

  listen(listener: BlobEvents): void {
    this.#listeners.push(listener);
  }

  /** Opens a blob; undefined when there is none. An entry that cannot be a blob is dropped. */
  async open(sha256: Sha256): Promise<StoredBlob | undefined> {
    const handle = await this.#openFile(sha256);
    if (handle === undefined) return undefined;
    try {
      const { size, isFile } = await readBlobState(handle);
      if (isFile) return { sha256, size, handle };
    } catch (error) {
      await handle.close();
      throw error;
    }
    await handle.close();
    await this.#discard(sha256, "it is not a file");
    return undefined;
  }

  /** Verifies that the file matches its name. Once this process has hashed it, a look at its times is enough. */
  async verify(blob: StoredBlob): Promise<void> {
    try {
      await this.#verified.verify(blob);
    } catch (error) {
      throw await this.#lose(blob, error);
    }
  }

  /** The bytes at `position`, at least one, in the memory of `buffer`. */
  async read(
    blob: StoredBlob,
    buffer: Buffer,
    position: number,
  ): Promise<Buffer> {
    const { length } = buffer;
    try {
      const { bytesRead } = await blob.handle.read(buffer, 0, length, position);
      if (bytesRead === 0)
        throw failure("stored-archive-damaged", blob.sha256, "it is cut short");
      return buffer.subarray(0, bytesRead);
    } catch (error) {
      throw await this.#lose(blob, error);
    }
  }

  /** The size in bytes, or undefined when there is no such blob. */
  async size(sha256: Sha256): Promise<number | undefined> {
    const path = blobPath(this.#layout, sha256);
    return (await stat(path).catch(unlessMissing))?.size;
  }

  async createSpool(): Promise<Spool> {
    return Spool.create(stagingPath(this.#layout, "archive"));
  }

  /** An empty folder for work on what is not stored yet; it goes with its content when it is disposed of. */
  async createFolder(): Promise<{ readonly path: string } & AsyncDisposable> {
    const path = stagingPath(this.#layout, "folder");
    await mkdir(path, { mode: 0o700 });
    const remove = () => rm(path, { force: true, recursive: true });
    return { path, [Symbol.asyncDispose]: remove };
  }

  /**
   * The caller has compared the spool's digest with `sha256`. Its bytes are on the disk before it gets its name; a name that a
   * power cut takes away is one more archive to fetch, so that nobody waits for its folder.
   */
  async commit(spool: Spool, sha256: Sha256): Promise<void> {
    const { handle } = spool;
    const path = blobPath(this.#layout, sha256);
    const before = await this.size(sha256);
    await handle.sync();
    await mkdir(dirname(path), { recursive: true, mode: 0o700 });
    await rename(spool.path, path);
    await this.#verified.remember({ sha256, handle });
    this.usage.note(sha256, spool.written);
    if (before === undefined)
      for (const one of this.#listeners) one.onStored?.(spool.written, sha256);
  }

  /**
   * Gives a blob another name on this machine, which must be free and is readable by all users: a hard link where possible,
   * else a copy. The name is read-only, because the bytes are the store's. Returns false when there is no such blob.
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
      unlessMissing(error);
      if ((await this.size(sha256)) === undefined) return false;
      throw error;
    }
  }

  async delete(sha256: Sha256): Promise<void> {
    await rm(blobPath(this.#layout, sha256), { force: true, recursive: true });
  }

  /** Hashes a blob even if it was verified before, and leaves it; `onPiece` hears of hashed bytes. */
  async inspect(
    sha256: Sha256,
    onPiece: (length: number) => void,
  ): Promise<"good" | "missing" | { readonly problem: string }> {
    try {
      const path = blobPath(this.#layout, sha256);
      await using handle = await open(path, plainFileFlags);
      if (!(await readBlobState(handle)).isFile)
        return { problem: "it is not a file" };
      const got = await hashFile(handle, onPiece);
      return got === sha256 ? "good" : { problem: `its SHA-256 is ${got}` };
    } catch (error) {
      const failure = classifyFileFailure(error);
      if (failure === "missing") return failure;
      if (failure !== "broken") throw error;
      return { problem: (error as Error).message };
    }
  }

  /** Removes what `list` found and what is no blob. */
  async deleteFile(path: string): Promise<void> {
    await rm(path, { force: true, recursive: true });
  }

  /** Everything below the folder of the blobs, folder by folder; what leaves meanwhile is left out. */
  async *list(): AsyncGenerator<ListedBlob> {
    const { blobs } = this.#layout;
    for (const folder of (await readdir(blobs)).toSorted()) {
      // Undefined for a file among the folders, and for a folder that has just left.
      const names = await readdir(join(blobs, folder)).catch(unlessMissing);
      const listed = (names ?? [""]).map(async (name) => {
        const path = join(blobs, folder, name);
        const found = await lstat(path).catch(unlessMissing);
        const isBlob = isSha256(name) && blobPath(this.#layout, name) === path;
        const sha256 = isBlob ? name : undefined;
        return found && { sha256, path, size: found.size };
      });
      for (const one of await Promise.all(listed))
        if (one !== undefined) yield one;
    }
  }

  /** Every archive; only those whose size is not noted are looked at. */
  async listUsed(): Promise<ReadonlyMap<Sha256, UsedBlob>> {
    const uses = await this.usage.read();
    const { blobs } = this.#layout;
    const found = new Map<Sha256, UsedBlob>();
    const listFolder = async (folder: string) => {
      const path = join(blobs, folder);
      const names = (await readdir(path).catch(unlessMissing)) ?? [];
      for (const sha256 of names) {
        if (!isSha256(sha256) || !sha256.startsWith(folder)) continue;
        const { at = 0, size } = uses.get(sha256) ?? {};
        if (size != null) found.set(sha256, { sha256, size, usedAt: at });
        else {
          const file = await lstat(join(path, sha256)).catch(unlessMissing);
          if (file === undefined) continue;
          const usedAt = Math.max(Math.trunc(file.mtimeMs), at);
          found.set(sha256, { sha256, size: file.size, usedAt });
        }
      }
    };
    await Promise.all((await readdir(blobs)).map(listFolder));
    return found;
  }

  async count(): Promise<BlobCount> {
    let archives = 0;
    let bytes = 0;
    for await (const { size } of this.list()) {
      archives++;
      bytes += size;
    }
    return { archives, bytes };
  }

  /** What is free in bytes and files; files are undefined where they are not counted. */
  async measureFree() {
    const found = await statfs(this.#layout.blobs);
    const { bavail, bsize, files, ffree } = found;
    return { bytes: bavail * bsize, files: files > 0 ? ffree : undefined };
  }

  /** Throws unless the store can be read and written now; the message may be shown to clients. */
  async probe(): Promise<void> {
    const allowed = constants.R_OK | constants.W_OK | constants.X_OK;
    try {
      await access(this.#layout.blobs, allowed);
      await access(this.#layout.staging, allowed);
    } catch (error) {
      throw new Error(describeFailure(error), { cause: error });
    }
    const { bytes, files } = await this.measureFree();
    if (bytes === 0 || files === 0) throw new Error("its disk is full");
  }

  async #openFile(sha256: Sha256): Promise<FileHandle | undefined> {
    try {
      return await open(blobPath(this.#layout, sha256), plainFileFlags);
    } catch (error) {
      const failure = classifyFileFailure(error);
      if (failure === "missing") return undefined;
      if (failure !== "broken") throw error;
      await this.#discard(sha256, (error as Error).message);
      return undefined;
    }
  }

  /** Drops a blob that failed its reader, unless it was replaced meanwhile; returns what to throw. */
  async #lose(blob: StoredBlob, error: unknown): Promise<unknown> {
    const { sha256 } = blob;
    const isBroken = classifyFileFailure(error) === "broken";
    const lost = isBroken
      ? failure("stored-archive-damaged", sha256, (error as Error).message)
      : error;
    if (!isFailure(lost, "stored-archive-damaged")) return lost;
    const found = await Promise.all([
      blob.handle.stat(),
      lstat(blobPath(this.#layout, sha256)),
    ]).catch((): undefined => undefined);
    if (found === undefined) return lost;
    const [here, there] = found;
    if (here.ino === there.ino && here.dev === there.dev)
      await this.#discard(sha256, lost.problem);
    return lost;
  }

  async #discard(sha256: Sha256, problem: string): Promise<void> {
    await this.delete(sha256).catch(() => undefined);
    for (const one of this.#listeners) one.onDamaged?.(sha256, problem);
  }
}
