import type { BlobStore } from "../../store/blobs/blob-store.ts";
import type { Spool } from "../../store/blobs/spool.ts";
import {
  makeRoom,
  refuseForRoom,
  type Reserve,
  type Room,
} from "./download-steps.ts";

/** Throws StoreFull. */
type Append = (piece: Uint8Array) => Promise<void>;

/**
 * For archives that are read only once they are whole: `receive` appends, judges and
 * commits, and nothing is left when it fails. `subject` is what `StoreFull`
 * names, `size` what was announced.
 */
export async function receiveWhole<T>(
  { blobs, reserve }: { readonly blobs: BlobStore; readonly reserve: Reserve },
  {
    subject,
    size,
  }: { readonly subject: string; readonly size?: number | undefined },
  receive: (spool: Spool, append: Append) => Promise<T>,
): Promise<T> {
  const spool = await blobs.createSpool();
  let room: Room | undefined;
  try {
    const opened = await reserve(size, () => spool.written);
    if (opened === undefined) throw refuseForRoom(subject);
    room = opened;
    return await receive(spool, async (piece) => {
      if (!(await makeRoom(opened, size, spool.written, piece.length)))
        throw refuseForRoom(subject);
      await spool.append(piece);
    });
  } catch (error) {
    await spool.remove();
    throw error;
  } finally {
    room?.release();
    await spool.release();
  }
}
