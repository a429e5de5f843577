import type { FileHandle } from "node:fs/promises";
import { createHash } from "node:crypto";
import type { Sha256 } from "../../address/hash.ts";
import { blobObject, blobObjects, parseBlobObject } from "../layout.ts";
import type { BucketBody } from "./bucket-connection.ts";
import type { Bucket } from "./bucket.ts";
import { MultipartUpload } from "./multipart-upload.ts";

/** Bytes above which an archive is written in parts, and of each part but the last. */
const largestWhole = 64 * 1024 * 1024;
const partSize = 16 * 1024 * 1024;
const pieceSize = 256 * 1024;

/** An archive on its way from the bucket, not hashed yet; read it or destroy it. */
interface BucketBlob {
  readonly size: number;
  readonly body: AsyncIterable<Uint8Array>;
}

/**
 * Archives in a bucket, named by their SHA-256. What comes from there is believed
 * as little as what comes from an origin. Every method throws BucketUnreachable
 * and BucketRefuses.
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

  /** The size in bytes; undefined when there is none. */
  async size(sha256: Sha256): Promise<number | undefined> {
    return (await this.#bucket.head(blobObject(sha256)))?.size;
  }

  /** Done also when it is there; the service refuses bytes that are not those of the digest, unless they come in parts. */
  async put(sha256: Sha256, handle: FileHandle, size: number): Promise<void> {
    const key = blobObject(sha256);
    if (size > largestWhole) return this.#putInParts(key, handle, size);
    const open = () => readPieces(handle, 0, size);
    await this.#bucket.put(key, { size, sha256, open });
  }

  /** Done also when there is none. */
  async delete(sha256: Sha256): Promise<void> {
    await this.#bucket.delete(blobObject(sha256));
  }

  async *list(): AsyncGenerator<{
    readonly sha256: Sha256;
    readonly size: number;
    /** By the service's clock. */
    readonly writtenAt: Date;
  }> {
    for await (const one of this.#bucket.list(blobObjects)) {
      const sha256 = parseBlobObject(one.key);
      const { size, lastModified: writtenAt } = one;
      if (sha256 !== undefined) yield { sha256, size, writtenAt };
    }
  }

  async #putInParts(
    key: string,
    handle: FileHandle,
    size: number,
  ): Promise<void> {
    const upload = await MultipartUpload.start(this.#bucket.connection, key);
    try {
      for (let start = 0; start < size; start += partSize)
        await upload.add(
          await describePart(handle, start, Math.min(size, start + partSize)),
        );
      await upload.complete();
    } catch (error) {
      // What is abandoned would be kept, and paid for.
      await upload.abort().catch(() => undefined);
      throw error;
    }
  }
}

async function describePart(
  handle: FileHandle,
  start: number,
  end: number,
): Promise<BucketBody> {
  const hash = createHash("sha256");
  const open = () => readPieces(handle, start, end);
  for await (const piece of open()) hash.update(piece);
  return { size: end - start, sha256: hash.digest("hex"), open };
}

async function* readPieces(
  handle: FileHandle,
  start: number,
  end: number,
): AsyncGenerator<Uint8Array> {
  for (let position = start; position < end;) {
    const length = Math.min(pieceSize, end - position);
    const buffer = Buffer.allocUnsafeSlow(length);
    const { bytesRead } = await handle.read(buffer, 0, length, position);
    if (bytesRead === 0) throw new Error("the archive is cut short");
    position += bytesRead;
    yield buffer.subarray(0, bytesRead);
  }
}
