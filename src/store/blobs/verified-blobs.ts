import { createHash } from "node:crypto";
import type { FileHandle } from "node:fs/promises";
import { LRUCache } from "lru-cache";
import pLimit from "p-limit";
import type { Sha256 } from "../../address/hash.ts";
import { SingleFlight } from "../../concurrency/single-flight.ts";
import { failure } from "../../errors/index.ts";

/** Blobs that are remembered, at about 300 bytes each. */
const remembered = 20_000;
/** Blobs that are hashed at once. */
const atOnce = 4;
const pieceSize = 1024 * 1024;

interface OpenFile {
  readonly sha256: Sha256;
  readonly handle: FileHandle;
}

/**
 * Files whose content this process has verified against their names. A file is hashed once while nothing writes to it, for
 * any number of requests. Verdicts of an earlier process do not count, as the disk may have changed a file since.
 */
export class VerifiedBlobs {
  /** Unlike with `max`, memory is taken for what is remembered alone. */
  readonly #found = new LRUCache<BlobIdentity, Sha256>({
    maxSize: remembered,
    sizeCalculation: () => 1,
  });
  readonly #hashing = new SingleFlight<BlobIdentity, void>();
  readonly #turn = pLimit(atOnce);

  /** The caller has compared the digest of the bytes that it wrote. */
  async remember({ sha256, handle }: OpenFile): Promise<void> {
    this.#found.set((await readBlobState(handle)).identity, sha256);
  }

  async verify(file: OpenFile): Promise<void> {
    for (;;) {
      const { identity } = await readBlobState(file.handle);
      const got = this.#found.get(identity);
      if (got === file.sha256) return;
      if (got !== undefined)
        throw failure(
          "stored-archive-damaged",
          file.sha256,
          `its SHA-256 is ${got}`,
        );
      const running = this.#hashing.join(identity);
      // Another one's failure may be its own: its client left and its file is closed.
      await (running?.catch(() => undefined) ??
        this.#hashing.run(identity, () => this.#hash(identity, file)));
    }
  }

  #hash(identity: BlobIdentity, { handle }: OpenFile): Promise<void> {
    return this.#turn(async () => {
      const digest = await hashFile(handle);
      // A file that was written while it was read is hashed again.
      if ((await readBlobState(handle)).identity === identity)
        this.#found.set(identity, digest);
    });
  }
}

/** The SHA-256 of a file from its first to its last byte, as it is on disk now. */
export async function hashFile(
  handle: FileHandle,
  onPiece?: (length: number) => void,
): Promise<Sha256> {
  const hash = createHash("sha256");
  const buffer = Buffer.allocUnsafeSlow(pieceSize);
  for (let position = 0; ;) {
    const { bytesRead } = await handle.read(buffer, 0, pieceSize, position);
    if (bytesRead === 0) return hash.digest("hex") as Sha256;
    hash.update(buffer.subarray(0, bytesRead));
    position += bytesRead;
    onPiece?.(bytesRead);
  }
}

/** A file's content at one moment: another text after anything was written to it, or another file took its name. */
type BlobIdentity = string & { readonly __brand: "blob-identity" };

export async function readBlobState(handle: FileHandle) {
  const found = await handle.stat({ bigint: true });
  const { dev, ino, size, mtimeNs, ctimeNs } = found;
  return {
    identity: `${dev} ${ino} ${size} ${mtimeNs} ${ctimeNs}` as BlobIdentity,
    size: Number(size),
    isFile: found.isFile(),
  };
}
