import { z } from "zod";
import {
  parsePackageHash,
  parseSha256,
  type PackageHash,
  type Sha256,
} from "../../address/hash.ts";
import { formatPlatform, type Platform } from "../../address/platform.ts";
import { SingleFlight } from "../../concurrency/single-flight.ts";
import { failure } from "../../errors/index.ts";
import type { OriginArchive } from "../../origin/http/http-client.ts";
import type { NetworkMirror } from "../../origin/registries/network-mirror.ts";
import type { BlobStore } from "../../store/blobs/blob-store.ts";
import type { RecordKey } from "../../store/layout.ts";
import type { RecordStore } from "../../store/records/record-store.ts";
import { receiveWhole, type Reserve } from "../archives/room.ts";
import { DownloadPlaces, type PlaceLimits } from "../archives/places.ts";
import type { PackageHashes } from "./package-hashes.ts";
import { formatRelease, type ReleaseAddress } from "./release.ts";

const shape = z.object({
  packageHash: z.string().transform(parsePackageHash),
  sha256: z.string().transform(parseSha256),
});

const readBody = (body: unknown) => shape.parse(body);

interface LearntDigestsParts {
  readonly blobs: BlobStore;
  readonly records: RecordStore;
  readonly hashes: PackageHashes;
  readonly reserve: Reserve;
  /**
   * Concurrent archives, each of which must be whole before it is checked;
   * `waiters` bounds the queue.
   */
  readonly limits: PlaceLimits & { readonly waiters: number };
}

/**
 * SHA-256 of archives for which a network mirror publishes the h1 alone, as
 * `terraform providers mirror` does. Such an archive is fetched whole, compared
 * with the h1, and stored.
 */
export class LearntDigests {
  readonly #parts: LearntDigestsParts;
  readonly #learning = new SingleFlight<string, void>();
  readonly #places: DownloadPlaces;
  readonly #closing = new AbortController();

  constructor(parts: LearntDigestsParts) {
    this.#parts = parts;
    this.#places = new DownloadPlaces(parts.limits);
  }

  /** Undefined until it was learnt for one of these hashes. */
  async find(
    address: ReleaseAddress,
    platform: Platform,
    packageHashes: readonly PackageHash[],
  ): Promise<Sha256 | undefined> {
    const key = recordKey(address, platform);
    const learnt = await this.#parts.records.read(key, readBody);
    return learnt !== undefined && packageHashes.includes(learnt.packageHash)
      ? learnt.sha256
      : undefined;
  }

  /**
   * Computes the digest once for concurrent requests, and only for an h1 that
   * was reported `first`. Throws archive-digest, too-busy and the origin's
   * failures.
   */
  async learn(
    address: ReleaseAddress,
    platform: Platform,
    origin: Pick<NetworkMirror, "openUnnamed">,
    first: readonly PackageHash[],
  ): Promise<void> {
    const name = recordKey(address, platform).join("/");
    const isRunning = this.#learning.has(name);
    if (!isRunning && this.#learning.size >= this.#parts.limits.waiters)
      throw failure("too-busy", "archives whose digests are being learnt");
    const { hostname } = address.provider;
    const download = {
      origin: hostname,
      isWanted: () => true,
      end: () => undefined,
    };
    const { signal } = this.#closing;
    return this.#learning.run(name, () =>
      this.#places.run(download, signal, () =>
        this.#learn(address, platform, origin, first),
      ),
    );
  }

  /** Ends what is being learnt. */
  async close(): Promise<void> {
    this.#closing.abort(failure("not-ready", "it is stopping"));
    await this.#learning.settled();
  }

  /** Detached from the askers; the origin's limits end it. */
  async #learn(
    address: ReleaseAddress,
    platform: Platform,
    origin: Pick<NetworkMirror, "openUnnamed">,
    first: readonly PackageHash[],
  ): Promise<void> {
    const { provider, version } = address;
    const archive = await origin.openUnnamed(
      provider,
      version,
      platform,
      this.#closing.signal,
    );
    const { sha256, isNew } = await this.#store(archive);
    const wasKnown = await this.#parts.hashes.isKnown(sha256);
    const packageHash = await this.#parts.hashes.wait(sha256);
    const lists = [archive.packageHashes, first];
    const refusing = lists.find(
      (list) => !list.some((h1) => h1 === packageHash),
    );
    if (packageHash === undefined || refusing !== undefined) {
      // Its digest is not trusted.
      if (isNew) await this.#parts.blobs.delete(sha256);
      if (isNew && !wasKnown) await this.#parts.hashes.forget(sha256);
      const subject = `${formatRelease(address)} for ${formatPlatform(platform)}`;
      throw failure(
        "archive-digest",
        subject,
        (refusing ?? first).join(" or ") || "h1: of the mirror itself",
        packageHash ?? "an archive that has none",
      );
    }
    const key = recordKey(address, platform);
    // The first bytes of an h1 are the ones that count.
    await this.#parts.records.change(key, readBody, (before) =>
      before?.packageHash === packageHash ? before : { packageHash, sha256 },
    );
  }

  async #store({ body, size }: OriginArchive): Promise<{
    readonly sha256: Sha256;
    readonly isNew: boolean;
  }> {
    const { blobs } = this.#parts;
    const named = { subject: "the archive", size };
    return receiveWhole(this.#parts, named, async (spool, append) => {
      for await (const chunk of body) {
        this.#closing.signal.throwIfAborted();
        await append(chunk);
      }
      const sha256 = spool.digest();
      const isNew = (await blobs.size(sha256)) === undefined;
      await blobs.commit(spool, sha256);
      return { sha256, isNew };
    });
  }
}

function recordKey(
  { provider, version }: ReleaseAddress,
  platform: Platform,
): RecordKey {
  const { hostname, namespace, type } = provider;
  const folder = ["providers", hostname, namespace, type, "learnt-digests"];
  return [...folder, version, formatPlatform(platform)];
}
