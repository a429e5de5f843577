import { LRUCache } from "lru-cache";
import * as z from "zod";
import {
  parsePackageHash,
  type PackageHash,
  type Sha256,
} from "../../address/hash.ts";
import { inTime } from "../../concurrency/in-time.ts";
import { SingleFlight } from "../../concurrency/single-flight.ts";
import { isFailure } from "../../errors/index.ts";
import type { BlobStore } from "../../store/blobs/blob-store.ts";
import type {
  RecordKey,
  RecordStore,
} from "../../store/records/record-store.ts";
import type { ArchiveThreads } from "../../verification/archives/threads.ts";

const shape = z.union([
  z.object({ hash: z.string().transform(parsePackageHash) }),
  z.object({ unhashable: z.string() }),
]);
type Found = Readonly<z.infer<typeof shape>>;

/** The h1 of stored archives: computed once after storing, from the stored bytes, and kept by digest. */
export class PackageHashes {
  readonly #blobs: BlobStore;
  readonly #records: RecordStore;
  readonly #threads: ArchiveThreads;
  readonly #onFailed: (sha256: Sha256, error: unknown) => void;
  readonly #patience: number;
  /** Unlike with `max`, memory is taken for what is remembered alone. */
  readonly #memory = new LRUCache<Sha256, Found>({
    maxSize: 50_000,
    sizeCalculation: () => 1,
  });
  #revision = 0;
  readonly #computing = new SingleFlight<Sha256, Found | undefined>();

  /** An answer waits for a hash for so many milliseconds of `patience`; a later one is in the next answer. */
  constructor(
    blobs: BlobStore,
    records: RecordStore,
    threads: ArchiveThreads,
    onFailed: (sha256: Sha256, error: unknown) => void,
    patience = 1_000,
  ) {
    this.#blobs = blobs;
    this.#records = records;
    this.#threads = threads;
    this.#onFailed = onFailed;
    this.#patience = patience;
  }

  /** Changes when a hash is begun or computed: what was made of hashes before is out of date then. */
  get revision(): number {
    return this.#revision;
  }

  /** Another process may have computed some. */
  forget(): void {
    this.#revision++;
  }

  /** The h1 of a stored archive; undefined when it is not stored, has none, or is not computed yet. */
  async find(sha256: Sha256): Promise<PackageHash | undefined> {
    const known = await this.#read(sha256);
    if (known !== undefined) return hashIn(known);
    const isExpected =
      this.#computing.join(sha256) !== undefined ||
      (await this.#blobs.size(sha256)) !== undefined;
    if (!isExpected) return undefined;
    const computing = this.#computeOnce(sha256);
    return hashIn(await inTime(computing, this.#patience, () => undefined));
  }

  /** Like find, but waits for a hash that is being computed, however long that takes. */
  async wait(sha256: Sha256): Promise<PackageHash | undefined> {
    const known = await this.#read(sha256);
    return hashIn(known ?? (await this.#computeOnce(sha256)));
  }

  /** Computes in the background once the archive is `stored`; askers wait for it from now on. */
  schedule(sha256: Sha256, stored: Promise<void>): void {
    void this.#computeOnce(sha256, stored);
  }

  async #read(sha256: Sha256): Promise<Found | undefined> {
    const held = this.#memory.get(sha256);
    if (held !== undefined) return held;
    const found = await this.#records.read(recordKey(sha256), readBody);
    if (found !== undefined) this.#memory.set(sha256, found);
    return found;
  }

  #computeOnce(
    sha256: Sha256,
    stored?: Promise<void>,
  ): Promise<Found | undefined> {
    return this.#computing.run(sha256, () => {
      this.#revision++;
      return this.#computeAndKeep(sha256, stored)
        .catch((error: unknown) => {
          this.#onFailed(sha256, error);
          return undefined;
        })
        .finally(() => this.#revision++);
    });
  }

  async #computeAndKeep(
    sha256: Sha256,
    stored: Promise<void> | undefined,
  ): Promise<Found | undefined> {
    await stored;
    const blob = await this.#blobs.open(sha256);
    if (blob === undefined) return undefined;
    try {
      // The h1 of a damaged archive would be published for ever.
      await this.#blobs.verify(blob);
      const { handle, size } = blob;
      const computed = await this.#threads
        .hash({ fd: handle.fd, size })
        .then((hash): Found => ({ hash }), asUnhashable);
      await this.#blobs.verify(blob);
      const found = await this.#keep(sha256, computed);
      this.#memory.set(sha256, found);
      return found;
    } finally {
      await blob.handle.close();
    }
  }

  /**
   * Another version of the mirror may hash an archive that this one cannot. The
   * first h1 stays, also where other versions found none.
   */
  async #keep(sha256: Sha256, found: Found): Promise<Found> {
    const key = recordKey(sha256);
    let kept = found;
    const write = () =>
      this.#records.change(key, readBody, (before) => {
        kept = before !== undefined && "hash" in before ? before : found;
        return kept;
      });
    // It can be computed again.
    await this.#records.transact(write, "soon");
    return kept;
  }
}

function hashIn(found: Found | undefined): PackageHash | undefined {
  return found !== undefined && "hash" in found ? found.hash : undefined;
}

const readBody = (body: unknown): Found => shape.parse(body);

function asUnhashable(error: unknown): Found {
  // A cause means that a limit of time or memory ended it, which says nothing
  // about the archive.
  if (isFailure(error, "archive-unhashable") && error.cause === undefined)
    return { unhashable: error.reason };
  throw error;
}

function recordKey(sha256: Sha256): RecordKey {
  return ["package_hashes", sha256];
}
