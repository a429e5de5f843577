/** What is reserved at once for an archive of unknown length. */
export const roomStep = 64 * 1024 * 1024;

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
  /** Throws StoreFull when no more archives may pass without being stored. */
  readonly expectPassing?: () => void;
  /** Room for so many bytes; undefined when there is none. There always is by default. */
  readonly reserve?: (
    size: number,
    written: () => number,
  ) => Promise<Room | undefined>;
}

/** What was reserved for one archive. */
export interface Room {
  readonly size: number;
  grow(bytes: number): Promise<boolean>;
  release(): void;
}

export const noRoom = new Error("its disk is full, or as full as it may be");
