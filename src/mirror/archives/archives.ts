import type { Sha256 } from "../../address/hash.ts";
import { inTime } from "../../concurrency/in-time.ts";
import { failure, isFailure, ProvenderError } from "../../errors/index.ts";
import type { OriginArchive } from "../../origin/http/http-client.ts";
import type { SharedArchives } from "../../store/bucket/shared-archives.ts";
import type { TrustedSha256 } from "../../verification/signed-checksums.ts";
import type { Outcome } from "../cache/metadata-cache.ts";
import { type ByteRange, Download, readStored } from "./download.ts";
import { DownloadPlaces, type PlaceLimits } from "./places.ts";
import { type ArchiveStore, refuseForRoom } from "./room.ts";

/** An archive that can be read, whether it is stored, joined in flight or just started; close it when done. */
export interface OpenArchive {
  readonly sha256: Sha256;
  /** Undefined while the origin has not said it. */
  readonly size: number | undefined;
  readonly outcome: Outcome;
  /** Resolves when it is the download's turn: waiting for that is the mirror's doing and not the origin's. */
  readonly admitted: Promise<void>;
  /** Resolves when the origin has answered, with or without a size; rejects when it fails first. */
  readonly started: Promise<void>;
  /** Settles when the archive can be opened from the store, or never will be from this download. */
  readonly stored: Promise<void>;
  readonly received: number;
  /** Each piece is good until the next one is asked for. */
  read(range?: ByteRange): AsyncIterable<Uint8Array>;
  close(): Promise<void>;
}

/** Source of a missing archive; `hostname` is the origin's. */
interface ArchiveStart {
  readonly name: string;
  readonly hostname: string;
  readonly open: (signal: AbortSignal) => Promise<OriginArchive>;
  /** The origin sent another archive: its SHA-256, before any reader hears of it. */
  readonly onWrong?: (got: string) => void;
}

/** Events that the archives report to the wiring, without waiting for them. */
interface ArchiveEvents {
  /** Verified and about to be in the store when `stored` resolves. */
  readonly onVerified: (sha256: TrustedSha256, stored: Promise<void>) => void;
  /** Hears of a failure; `host` is the sender, if known, which may be no origin. */
  readonly onFailed: (
    name: string,
    error: unknown,
    host: string | undefined,
  ) => void;
}

/** Milliseconds that an archive is hashed before its first byte is sent, so that most damage is healed unseen. */
const patience = 1_000;

/** Archives by digest: from the store, from a download under way, or from a new one, of what is nearest or of the origin; at most one download a digest. */
export class Archives {
  readonly #store: ArchiveStore;
  readonly #waiters: number;
  readonly #events: ArchiveEvents;
  readonly #nearest: SharedArchives | undefined;
  readonly #places: DownloadPlaces;
  /** What new requests join. */
  readonly #downloads = new Map<TrustedSha256, Download>();
  readonly #running = new Set<Promise<void>>();
  readonly #closing = new AbortController();
  /** Downloads that have ended. */
  #ended = 0;
  /** Readers of downloads, and of all archives. */
  #followers = 0;
  #readers = 0;

  constructor(
    store: ArchiveStore,
    limits: PlaceLimits & { readonly waiters: number },
    events: ArchiveEvents,
    nearest?: SharedArchives,
  ) {
    this.#store = store;
    this.#waiters = limits.waiters;
    this.#events = events;
    this.#nearest = nearest;
    this.#places = new DownloadPlaces(limits);
  }

  /** A TrustedSha256 is asked for, so that nothing is fetched before its digest is trusted. */
  async open(sha256: TrustedSha256, start: ArchiveStart): Promise<OpenArchive> {
    for (;;) {
      const running = this.#downloads.get(sha256);
      if (running?.isJoinable === true) return this.#follow(running, "joined");
      const ended = this.#ended;
      const stored = await this.openStored(sha256);
      if (stored !== undefined) return stored;
      // A download that ended meanwhile may have stored it: look again.
      if (ended !== this.#ended) continue;
      if (this.#downloads.get(sha256)?.isJoinable === true) continue;
      return this.#follow(this.#start(sha256, start), "fetched");
    }
  }

  /** The archive that is stored under a digest, trusted or not; undefined when none is. */
  async openStored(sha256: Sha256): Promise<OpenArchive | undefined> {
    const { blobs } = this.#store;
    const blob = await blobs.open(sha256);
    if (blob === undefined) return undefined;
    try {
      // A slow disk is not waited for here, but at the end of the body.
      await inTime(blobs.verify(blob), patience, () => undefined);
    } catch (error) {
      await blob.handle.close();
      // It was damaged, and is dropped by now.
      if (error instanceof ProvenderError) return undefined;
      throw error;
    }
    const endUse = blobs.usage.begin(sha256);
    this.#readers++;
    return {
      ...{ sha256, size: blob.size, received: blob.size, outcome: "hit" },
      ...{ admitted: done, started: done, stored: done },
      read: (range) => readStored(blobs, blob, range, () => this.#readers),
      close: () => {
        this.#readers--;
        endUse();
        return blob.handle.close();
      },
    };
  }

  /** The size in bytes of an archive that is stored or announced, without asking the origin; undefined when unknown. */
  async findSize(sha256: TrustedSha256): Promise<number | undefined> {
    const announced = this.#downloads.get(sha256)?.size;
    return announced ?? (await this.#store.blobs.size(sha256));
  }

  /** Throws store-full where an archive of that size could not be stored now. */
  async expectRoom(size: number | undefined): Promise<void> {
    const room = await this.#store.reserve(size, () => 0);
    if (room === undefined) throw refuseForRoom("the archive");
    room.release();
  }

  /** Counts of running downloads, of those that wait for a place, and of readers. */
  get load(): { fills: number; waiting: number; readers: number } {
    return { ...this.#places.load, readers: this.#followers };
  }

  /** Ends the downloads; resolves when their files are gone. */
  async close(): Promise<void> {
    this.#closing.abort(failure("not-ready", "it is stopping"));
    await Promise.allSettled(this.#running);
  }

  /** It is in the map before anything is awaited, so that no second one can start. */
  #start(sha256: TrustedSha256, start: ArchiveStart): Download {
    if (this.#running.size >= this.#waiters)
      throw failure("too-busy", "archives being fetched");
    const download = new Download(sha256, start.name, start.hostname);
    this.#downloads.set(sha256, download);
    const running = this.#run(download, start).finally(() =>
      this.#running.delete(running),
    );
    this.#running.add(running);
    return download;
  }

  async #run(
    download: Download,
    { name, open, onWrong }: ArchiveStart,
  ): Promise<void> {
    const { sha256 } = download;
    const signal = AbortSignal.any([this.#closing.signal, download.canceled]);
    const from: { near?: boolean; host?: string } = {};
    const openNearest = async () => {
      const near = await this.#nearest?.open(sha256);
      from.near = near !== undefined;
      const archive = near ?? (await open(signal));
      from.host = archive.url.host;
      return archive;
    };
    try {
      await this.#places.run(download, signal, () =>
        download.receive(openNearest, this.#store, signal, () =>
          this.#events.onVerified(sha256, download.stored),
        ),
      );
      this.#forget(download);
      await download.end();
    } catch (error) {
      const isWrong = isFailure(error, "archive-digest", "origin-answer");
      if (from.near === true && isWrong) this.#nearest?.distrust(sha256);
      else if (isFailure(error, "archive-digest")) onWrong?.(error.got);
      // Before any reader hears of it, so that who asks again starts another.
      this.#forget(download);
      await download.end(error);
      this.#events.onFailed(name, error, from.host);
    }
  }

  #forget(download: Download): void {
    this.#ended++;
    if (this.#downloads.get(download.sha256) === download)
      this.#downloads.delete(download.sha256);
  }

  #follow(download: Download, outcome: Outcome): OpenArchive {
    if (this.#followers >= this.#waiters)
      throw failure(
        "too-busy",
        "clients reading archives that are being fetched",
      );
    download.join();
    this.#followers++;
    this.#readers++;
    const { sha256, admitted, started, stored } = download;
    return {
      ...{ sha256, admitted, started, stored, outcome },
      get size() {
        return download.size;
      },
      get received() {
        return download.received;
      },
      read: (range) => download.read(range, () => this.#readers),
      close: async () => {
        this.#followers--;
        this.#readers--;
        await download.leave();
        this.#places.makeWay();
      },
    };
  }
}

const done = Promise.resolve();
