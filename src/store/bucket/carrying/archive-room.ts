import type { BlobStore } from "../../blobs/blob-store.ts";
import { countBlobs } from "../../blobs/listing.ts";
import type { StoreLayout } from "../../layout.ts";
import type { DirectoryLimits } from "../../storage-directory.ts";
import { measureRecords } from "../../records/record-sizes.ts";

/** How many bytes more a directory takes, measured when first asked; nothing is evicted for them. */
export class ArchiveRoom {
  readonly #measure: () => Promise<number>;
  #measured: Promise<number> | undefined;
  #taken = 0;

  constructor(
    layout: StoreLayout,
    blobs: BlobStore,
    { maxSize = Infinity, minFree }: DirectoryLimits,
  ) {
    this.#measure = async () => {
      const records = await measureRecords(layout);
      const { bytes } = await countBlobs(blobs.list());
      const free = await blobs.measureFree();
      return Math.min(maxSize - records - bytes, free.bytes - minFree);
    };
  }

  /** False when there is no room for so many bytes. */
  async take(bytes: number): Promise<boolean> {
    this.#measured ??= this.#measure();
    const room = await this.#measured;
    if (this.#taken + bytes > room) return false;
    this.#taken += bytes;
    return true;
  }
}
