import type { BlobStore, StoredBlob } from "../../store/blobs/blob-store.ts";
import { heldBack, type ByteRange } from "./archive-download.ts";
import { PieceBuffers } from "./piece-buffers.ts";

/**
 * Reads a stored archive or a range of it; the next piece is read while the
 * current one is used.
 * Its last `heldBack` bytes come only after the file's digest is verified, so
 * that a damaged file is never complete.
 */
export async function* readStored(
  blobs: BlobStore,
  blob: StoredBlob,
  range: ByteRange | undefined,
  readers: () => number,
): AsyncGenerator<Uint8Array> {
  const end = Math.min(range?.end ?? blob.size, blob.size);
  const start = range?.start ?? 0;
  const buffers = new PieceBuffers(2);
  const readAt = (position: number, stop: number) =>
    position < stop
      ? blobs.read(blob, buffers.take(readers(), stop - position), position)
      : undefined;
  const readTo = async function* (position: number, stop: number) {
    let ahead = readAt(position, stop);
    while (ahead !== undefined) {
      const piece = await ahead;
      position += piece.length;
      ahead = readAt(position, stop);
      // A reader that leaves now never learns how this read ended.
      ahead?.catch(() => undefined);
      yield piece;
    }
  };
  const released = Math.max(start, end - heldBack);
  yield* readTo(start, released);
  await blobs.verify(blob);
  yield* readTo(released, end);
}
