import type { BlobStore, StoredBlob } from "../store/blob-store.ts";
import { heldBack, type ByteRange } from "./archive-download.ts";

/**
 * The bytes of a stored archive, or of a range of it. Its last `heldBack` bytes
 * come only once the file is known to be what its name says, so that a body
 * that was damaged on disk is never complete.
 */
export async function* readStored(
  blobs: BlobStore,
  blob: StoredBlob,
  range: ByteRange | undefined,
  readSize: () => number,
): AsyncGenerator<Uint8Array> {
  const end = Math.min(range?.end ?? blob.size, blob.size);
  let position = range?.start ?? 0;
  const readTo = async function* (stop: number) {
    while (position < stop) {
      const length = Math.min(readSize(), stop - position);
      const piece = await blobs.read(blob, position, length);
      position += piece.length;
      yield piece;
    }
  };
  yield* readTo(end - heldBack);
  await blobs.verify(blob);
  yield* readTo(end);
}
