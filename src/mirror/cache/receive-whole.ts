import type { BlobStore } from "../../store/blobs/blob-store.ts";
import type { Spool } from "../../store/blobs/spool.ts";
import {
  makeRoom,
  refuseForRoom,
  type Reserve,
  type Room,
} from "./download-steps.ts";

/** Throws store-full. */
type Append = (piece: Uint8Array) => Promise<void>;

/**
 * Receives an archive that is read only once it is whole. `receive` appends,
 * verifies and commits; nothing remains when it fails. `subject` is the name in
 * `store-full`, `size` the announced size.
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
