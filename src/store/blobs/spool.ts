import { createHash } from "node:crypto";
import { type FileHandle, open, rm } from "node:fs/promises";
import type { Sha256 } from "../../address/hash.ts";

/**
 * File that is being received. One writer appends and hashes; any number of readers follow through the same handle, which
 * stays valid after the file is renamed or removed, and closes with its last holder.
 */
export class Spool {
  readonly path: string;
  readonly handle: FileHandle;
  readonly #hash = createHash("sha256");
  #written = 0;
  #holders = 1;

  private constructor(path: string, handle: FileHandle) {
    this.path = path;
    this.handle = handle;
  }

  /** Makes the file: a new one that no other process has. The caller is its first holder. */
  static async create(path: string): Promise<Spool> {
    return new Spool(path, await open(path, "wx+", 0o600));
  }

  get written(): number {
    return this.#written;
  }

  async append(chunk: Uint8Array): Promise<void> {
    let done = 0;
    while (done < chunk.length) {
      const { bytesWritten } = await this.handle.write(
        chunk,
        done,
        chunk.length - done,
        this.#written + done,
      );
      done += bytesWritten;
    }
    this.#hash.update(chunk);
    this.#written += chunk.length;
  }

  /** Ends the hash; call once, after the last append. */
  digest(): Sha256 {
    return this.#hash.digest("hex") as Sha256;
  }

  /** The bytes at `position`, as many as `buffer` takes, in its memory. */
  async read(buffer: Buffer, position: number): Promise<Buffer> {
    const { length } = buffer;
    const { bytesRead } = await this.handle.read(buffer, 0, length, position);
    return buffer.subarray(0, bytesRead);
  }

  /** Keeps the file open until it is released as often. */
  hold(): void {
    this.#holders++;
  }

  async release(): Promise<void> {
    if (--this.#holders === 0) await this.handle.close();
  }

  /** Takes the file's name away; readers that follow keep what they have. */
  async remove(): Promise<void> {
    await rm(this.path, { force: true });
  }
}
