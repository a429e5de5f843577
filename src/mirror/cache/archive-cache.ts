import type { Sha256 } from "../../address/hash.ts";
import { inTime } from "../../concurrency/in-time.ts";
import { failure, isFailure, ProvenderError } from "../../errors/index.ts";
import type { OriginArchive } from "../../origin/http/http-client.ts";
import type { BlobStore, StoredBlob } from "../../store/blobs/blob-store.ts";
import type { TrustedSha256 } from "../../verification/signed-checksums.ts";
import type { Outcome } from "./answer.ts";
import { DownloadPlaces, type PlaceLimits } from "../archives/places.ts";
import { readStored } from "./stored-archive.ts";
import { ArchiveDownload, type ReadableArchive } from "./archive-download.ts";
import type { Reserve } from "./download-steps.ts";
import type { NearestOrigin } from "./nearest-origin.ts";

export interface OpenArchive extends ReadableArchive {
  readonly outcome: Outcome;
  /** Resolves when it is the download's turn: waiting for that is the mirror's doing and not the origin's. */
  readonly admitted: Promise<void>;
  /**
   * Resolves when the origin has answered, with or without a size; rejects when
   * it fails first.
   */
  readonly started: Promise<void>;
  /** Settles when the archive can be opened from the store, or never will be from this download. */
  readonly stored: Promise<void>;
  /** Bytes received so far. */
  readonly received: number;
  /** Ends the download when it has no reader; call it once it is closed. */
  abandon(): void;
}

/** Source of a missing archive; `hostname` is the origin's. */
export interface ArchiveStart {
  readonly name: string;
  readonly hostname: string;
  readonly open: (signal: AbortSignal) => Promise<OriginArchive>;
}

/** Events that the cache reports to the wiring, without waiting for them. */
interface ArchiveEvents {
  /** Verified and about to be in the store when `stored` resolves. */
  readonly onVerified: (sha256: TrustedSha256, stored: Promise<void>) => void;
  /** Hears of a failure; `host` is the sender, if known. */
  readonly onFailed: (
    name: string,
    error: unknown,
    host: string | undefined,
  ) => void;
}

interface ArchiveLimits extends PlaceLimits {
  readonly waiters: number;
}

/** Milliseconds that an archive is hashed before its first byte is sent, so that most damage is healed unseen. */
const patience = 1_000;

/** Archives by digest: from the store, from a download under way, or from a new one; at most one download a digest. */
export class ArchiveCache {
  readonly #blobs: BlobStore;
  readonly #limits: ArchiveLimits;
  readonly #events: ArchiveEvents;
  readonly #reserve: Reserve | undefined;
  readonly #nearest: NearestOrigin | undefined;
  readonly #downloads = new Map<TrustedSha256, ArchiveDownload>();
  readonly #places: DownloadPlaces;
  readonly #closing = new AbortController();
  readonly #running = new Map<ArchiveDownload, Promise<void>>();
  #left = 0;
  #readers = 0;
  #storeReaders = 0;

  /** Without `reserve` there is room for everything. */
  constructor(
    blobs: BlobStore,
    limits: ArchiveLimits,
    events: ArchiveEvents,
    reserve?: Reserve,
    nearest?: NearestOrigin,
  ) {
    this.#blobs = blobs;
    this.#reserve = reserve;
    this.#nearest = nearest;
    this.#limits = limits;
    this.#events = events;
    this.#places = new DownloadPlaces(limits);
  }

  /** A TrustedSha256 is asked for, so that nothing is fetched before its digest is trusted. */
  async open(sha256: TrustedSha256, start: ArchiveStart): Promise<OpenArchive> {
    for (;;) {
      const running = this.#downloads.get(sha256);
      if (running !== undefined) return this.#follow(running, "joined");
      const left = this.#left;
      const stored = await this.#blobs.open(sha256);
      if (stored !== undefined) {
        if (await this.#isUsable(stored)) return this.#openStored(stored);
        await stored.handle.close();
        continue;
      }
      // A download that left meanwhile may have stored it: look again.
      if (left !== this.#left || this.#downloads.has(sha256)) continue;
      return this.#follow(this.#start(sha256, start), "fetched");
    }
  }

  /** The archive that is stored under a digest, trusted or not; undefined when none is. */
  async openStored(sha256: Sha256): Promise<OpenArchive | undefined> {
    const stored = await this.#blobs.open(sha256);
    if (stored === undefined) return undefined;
    if (await this.#isUsable(stored)) return this.#openStored(stored);
    await stored.handle.close();
    return undefined;
  }

  /** The size in bytes of an archive that is stored or announced, without asking the origin; undefined when unknown. */
  async findSize(sha256: TrustedSha256): Promise<number | undefined> {
    return (
      this.#downloads.get(sha256)?.size ?? (await this.#blobs.size(sha256))
    );
  }

  /**
   * Counts of running downloads, of those that wait for a place, and of
   * readers.
   */
  get load(): { fills: number; waiting: number; readers: number } {
    return { ...this.#places.load, readers: this.#readers };
  }

  /** Ends the downloads; resolves when their files are gone. */
  async close(): Promise<void> {
    this.#closing.abort(failure("not-ready", "it is stopping"));
    await Promise.allSettled(this.#running.values());
  }

  /**
   * Starts a download. It is in the map before anything is awaited, so that no
   * second one can start.
   */
  #start(sha256: TrustedSha256, start: ArchiveStart): ArchiveDownload {
    if (this.#running.size >= this.#limits.waiters)
      throw failure("too-busy", "archives being fetched");
    const spool = this.#blobs.planSpool();
    const download = new ArchiveDownload(sha256, start.name, spool);
    this.#downloads.set(sha256, download);
    const running = this.#run(download, start).finally(() =>
      this.#running.delete(download),
    );
    this.#running.set(download, running);
    return download;
  }

  async #run(download: ArchiveDownload, start: ArchiveStart): Promise<void> {
    const place = {
      origin: start.hostname,
      isWanted: () => download.isFollowed,
      end: () => download.abandon(),
    };
    const from: { host?: string } = {};
    const ends = [this.#closing.signal, download.abandoned];
    const signal = AbortSignal.any(ends);
    try {
      await this.#places.run(place, signal, () =>
        this.#receive(download, start, signal, from),
      );
    } catch (error) {
      this.#leave(download);
      await download.giveUp(error);
      this.#events.onFailed(start.name, error, from.host);
    }
  }

  async #receive(
    download: ArchiveDownload,
    start: ArchiveStart,
    signal: AbortSignal,
    from: { host?: string },
  ): Promise<void> {
    const { sha256, stored } = download;
    // New requests must not join a download that is given up.
    signal.addEventListener("abort", () => {
      if (!download.isVerified) this.#leave(download);
    });
    const near = await this.#nearest?.open(sha256);
    const opening = (
      near === undefined ? start.open(signal) : Promise.resolve(near)
    ).then((archive) => {
      from.host = archive.url.host;
      return archive;
    });
    const running = download.run(opening, this.#blobs, {
      verified: () => this.#events.onVerified(sha256, stored),
      leave: () => this.#leave(download),
      ...(this.#reserve && { reserve: this.#reserve }),
    });
    await running.catch((error: unknown) => {
      if (near !== undefined && isWrong(error)) this.#nearest?.distrust(sha256);
      throw error;
    });
  }

  #leave(download: ArchiveDownload): void {
    this.#left++;
    if (this.#downloads.get(download.sha256) === download)
      this.#downloads.delete(download.sha256);
  }

  #follow(download: ArchiveDownload, outcome: Outcome): OpenArchive {
    if (this.#readers >= this.#limits.waiters)
      throw failure(
        "too-busy",
        "clients reading archives that are being fetched",
      );
    const reader = download.join();
    this.#readers++;
    return {
      sha256: reader.sha256,
      get size() {
        return reader.size;
      },
      read: (range) => reader.read(range),
      close: async () => {
        this.#readers--;
        await reader.close();
        this.#places.makeWay();
      },
      outcome,
      admitted: download.admitted,
      started: download.started,
      stored: download.stored,
      get received() {
        return download.received;
      },
      abandon: () => download.abandon(),
    };
  }

  /**
   * Returns false when the blob is known to be damaged and dropped by now. A
   * slow disk is not waited for here, but at the end of the body.
   */
  async #isUsable(blob: StoredBlob): Promise<boolean> {
    const verified = this.#blobs.verify(blob).then(
      (): true => true,
      (error: unknown) => {
        if (error instanceof ProvenderError) return false;
        throw error;
      },
    );
    return inTime(verified, patience, () => true);
  }

  #openStored(blob: StoredBlob): OpenArchive {
    const readers = () => this.#storeReaders;
    const endUse = this.#blobs.usage.begin(blob.sha256);
    this.#storeReaders++;
    return {
      sha256: blob.sha256,
      size: blob.size,
      read: (range) => readStored(this.#blobs, blob, range, readers),
      close: () => {
        this.#storeReaders--;
        endUse();
        return blob.handle.close();
      },
      outcome: "hit",
      admitted: Promise.resolve(),
      started: Promise.resolve(),
      stored: Promise.resolve(),
      received: blob.size,
      abandon: () => undefined,
    };
  }
}

function isWrong(error: unknown): boolean {
  return isFailure(error, "archive-digest", "origin-answer");
}
