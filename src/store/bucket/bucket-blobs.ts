import type { FileHandle } from "node:fs/promises";
import type { Sha256 } from "../../address/hash.ts";
import { blobObject } from "../layout.ts";
import type { Bucket } from "./bucket.ts";

/** Bytes above which an archive is written in parts. */
const largestWhole = 64 * 1024 * 1024;
const pieceSize = 256 * 1024;

/** An archive on its way from the bucket, not hashed yet; read it or destroy it. */
interface BucketBlob {
  readonly size: number;
  readonly body: AsyncIterable<Uint8Array>;
}

/**
 * Archives in a bucket, named by their SHA-256. They are verified like archives
 * of an origin. Every method throws bucket-unreachable and bucket-refuses.
 */
export class BucketBlobs {
  readonly #bucket: Bucket;

  constructor(bucket: Bucket) {
    this.#bucket = bucket;
  }

  /** Undefined when there is none, or one of more than `largest` bytes. */
  async open(
    sha256: Sha256,
    largest = Infinity,
  ): Promise<BucketBlob | undefined> {
    const found = await this.#bucket.get(blobObject(sha256));
    if (found === undefined) return undefined;
    const { size, body } = found;
    if (size > largest) {
      body.destroy();
      return undefined;
    }
    return { size, body: this.#bucket.connection.readPieces(body) };
  }

  /** Returns the size in bytes; undefined when there is none. */
  async size(sha256: Sha256): Promise<number | undefined> {
    return this.#bucket.size(blobObject(sha256));
  }

  /** Done also when it is there; the service refuses bytes that are not those of the digest, unless they come in parts. */
  async put(sha256: Sha256, handle: FileHandle, size: number): Promise<void> {
    const key = blobObject(sha256);
    const pieces = () => readPieces(handle, size);
    if (size > largestWhole) await this.#bucket.putInParts(key, pieces);
    else await this.#bucket.putPieces(key, pieces, { size, sha256 });
  }

  /** Succeeds also when there is none. */
  async delete(sha256: Sha256): Promise<void> {
    await this.#bucket.delete(blobObject(sha256));
  }
}

async function* readPieces(
  handle: FileHandle,
  size: number,
): AsyncGenerator<Uint8Array> {
  for (let position = 0; position < size;) {
    const length = Math.min(pieceSize, size - position);
    const buffer = Buffer.allocUnsafeSlow(length);
    const { bytesRead } = await handle.read(buffer, 0, length, position);
    if (bytesRead === 0) throw new Error("the archive is cut short");
    position += bytesRead;
    yield buffer.subarray(0, bytesRead);
  }
}
