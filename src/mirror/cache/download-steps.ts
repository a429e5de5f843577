import { failure, type Failure } from "../../errors/index.ts";

/** Callbacks of the cache for a download, in this order. */
export interface DownloadSteps {
  /** Runs before any reader gets the last byte. */
  readonly verified: () => void;
  /**
   * Runs before any reader hears of a failure, and after the archive can be
   * opened from the store. So a new request always finds exactly one of the two.
   */
  readonly leave: () => void;
  /** There is room for everything by default. */
  readonly reserve?: Reserve;
}

/**
 * Opens the account of one archive. `size` is its announced size, which may be
 * wrong, and `written` the bytes on disk.
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

const step = 8 * 1024 * 1024;

/**
 * Reserves room for the bytes that arrive. Archives are evicted for bytes
 * received, never for announced ones.
 */
export async function makeRoom(
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
