import { StoreFull } from "../../errors/index.ts";

/** What the cache wants to know of a download, in this order. */
export interface DownloadSteps {
  /** Before any reader gets the last byte. */
  readonly verified: () => void;
  /**
   * Before any reader hears of a failure, and after the archive can be opened
   * from the store, so that a newcomer always finds exactly one of the two.
   */
  readonly leave: () => void;
  /** Resolves when the next piece may be taken in; rejects when the download has to end. */
  readonly proceed?: () => Promise<void>;
  /** Throws StoreFull when no more archives may be streamed unstored. */
  readonly expectUnstored?: () => void;
  /** There is room for everything by default. */
  readonly reserve?: Reserve;
}

/**
 * Opens the account of one archive; `size` is what was announced, which nobody
 * has to keep to, and `written` the bytes that the disk has. Undefined when so
 * much could not be stored whatever was evicted for it.
 */
export type Reserve = (
  size: number | undefined,
  written: () => number,
) => Promise<Room | undefined>;

/** What is reserved for one archive, nothing at first. */
export interface Room {
  /** Bytes. */
  readonly size: number;
  /** Reserves `most` more bytes if nothing has to be evicted for them, else `least`; false when there is no room for those. */
  grow(least: number, most: number): Promise<boolean>;
  release(): void;
}

const step = 8 * 1024 * 1024;

/**
 * Sees to it that what is written fits with what comes. Others leave the store
 * for bytes that are here, and not for what is only announced.
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

export function refuseForRoom(subject: string): StoreFull {
  const reason = "its disk is full, or as full as it may be";
  const cure =
    'try again shortly, and make room on the mirror\'s disk or raise "storage.maxSize"';
  return new StoreFull(subject, reason, cure);
}

/** Room for work on what is not stored yet, of unknown size; both throw StoreFull. */
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
