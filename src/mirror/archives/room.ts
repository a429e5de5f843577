import { failure, type Failure } from "../../errors/index.ts";
import type { BlobStore } from "../../store/blobs/blob-store.ts";
import type { Spool } from "../../store/blobs/spool.ts";
import {
  classifyFileFailure,
  refuseToStore,
} from "../../store/file-failure.ts";

/**
 * Opens the account of one archive. `size` is its announced size, which may be wrong, and `written` the bytes on disk.
 * Returns undefined when so much could not be stored after any evictions.
 */
export type Reserve = (
  size: number | undefined,
  written: () => number,
) => Promise<Room | undefined>;

/** Space reserved for one archive, initially none. */
export interface Room {
  /** Bytes. */
  readonly size: number;
  /** Reserves `most` more bytes if nothing has to be evicted for them, else `least`; false when there is no room for those. */
  grow(least: number, most: number): Promise<boolean>;
  release(): void;
}

/** Where archives are received and kept. */
export interface ArchiveStore {
  readonly blobs: BlobStore;
  readonly reserve: Reserve;
}

type Append = (piece: Uint8Array) => Promise<void>;

/**
 * Receives an archive into a file of its own. `receive` appends, verifies and commits; nothing remains when it fails.
 * `subject` is the name in `store-full`, `size` the announced size.
 */
export async function receiveWhole<T>(
  { blobs, reserve }: ArchiveStore,
  { subject, size }: { subject: string; size?: number | undefined },
  receive: (spool: Spool, append: Append) => Promise<T>,
): Promise<T> {
  let spool: Spool | undefined;
  const room = await reserve(size, () => spool?.written ?? 0);
  if (room === undefined) throw refuseForRoom(subject);
  // A disk that fails is no reason to doubt the origin.
  const refuse = (error: unknown): never => {
    if (classifyFileFailure(error) === undefined) throw error;
    throw refuseToStore(subject, error);
  };
  try {
    const file = await blobs.createSpool().catch(refuse);
    spool = file;
    return await receive(file, async (piece) => {
      if (!(await makeRoom(room, size, file.written, piece.length)))
        throw refuseForRoom(subject);
      await file.append(piece).catch(refuse);
    });
  } catch (error) {
    await spool?.remove();
    throw error;
  } finally {
    room.release();
    await spool?.release();
  }
}

const step = 8 * 1024 * 1024;

/** Reserves room for the bytes that arrive. Archives are evicted for bytes received, never for announced ones. */
async function makeRoom(
  room: Room,
  announced: number | undefined,
  written: number,
  coming: number,
): Promise<boolean> {
  const missing = written + coming - room.size;
  if (missing <= 0) return true;
  const rest = (announced ?? Infinity) - room.size;
  return room.grow(missing, Math.max(missing, Math.min(step, rest)));
}

export function refuseForRoom(subject: string): Failure<"store-full"> {
  const reason = "its disk is full, or as full as it may be";
  const remedy =
    'try again shortly, and make room on the mirror\'s disk or raise "storage.maxSize"';
  return failure("store-full", subject, reason, remedy);
}

/** Room for work on what is not stored yet, of unknown size; both throw store-full. */
export async function openWorkRoom(
  reserve: Reserve,
  subject: string,
): Promise<{
  readonly hold: (bytes: number) => Promise<void>;
  readonly release: () => void;
}> {
  let held = 0;
  let isOpen = true;
  const room = await reserve(undefined, () => held);
  if (room === undefined) throw refuseForRoom(subject);
  const hold = async (bytes: number) => {
    held = bytes;
    if (isOpen && !(await makeRoom(room, undefined, bytes, 0)))
      throw refuseForRoom(subject);
  };
  const release = () => {
    isOpen = false;
    room.release();
  };
  return { hold, release };
}
