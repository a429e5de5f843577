import { LRUCache } from "lru-cache";
import type { PackageHash, Sha256 } from "../../address/hash.ts";
import { formatPlatform, type Platform } from "../../address/platform.ts";
import { untilAborted } from "../../concurrency/in-time.ts";
import { KeyedLimit } from "../../concurrency/keyed-limit.ts";
import type { PackageHashes } from "../releases/package-hashes.ts";
import type {
  AdmittedPackage,
  AdmittedRelease,
  ProviderMirror,
} from "./provider-mirror.ts";

interface ArchiveEnsurer {
  readonly providers: ProviderMirror;
  readonly hashes: PackageHashes;
}

/**
 * Opens or fetches an archive, and keeps its h1 too: `done` resolves with it, if it has one, once it is stored and hashed.
 * One that is stored and was hashed before is not read again, unless `inspects`. `signal` ends the wait.
 */
export async function ensureArchive(
  { providers, hashes }: ArchiveEnsurer,
  wanted: AdmittedPackage,
  options: { readonly inspects?: boolean; readonly signal?: AbortSignal } = {},
) {
  const { inspects = false, signal } = options;
  const { sha256 } = wanted.found;
  const size = inspects ? undefined : await providers.findSize(wanted.found);
  const h1 = size === undefined ? undefined : await hashes.find(sha256);
  if (size !== undefined && h1 !== undefined) {
    const done = Promise.resolve<PackageHash | undefined>(h1);
    return { outcome: "hit" as const, size, received: size, done };
  }
  const archive = await providers.openArchive(wanted);
  const { outcome, stored } = archive;
  const done = (signal ? untilAborted(stored, signal) : stored)
    .finally(() => archive.close())
    .then(() => hashes.wait(sha256));
  // Its rejection belongs to the caller that waits for it, perhaps later.
  done.catch(() => undefined);
  return {
    ...{ outcome, done },
    get size() {
      return archive.size;
    },
    get received() {
      return archive.received;
    },
  };
}

/** Clients that wait come first, so few are fetched at once. */
const atOnce = 3;
const ofOneNamespace = 2;
const mostWaiting = 1024;
const mostRemembered = 10_000;

/**
 * Fetches archives of some platforms in the background, for every version that clients request. So its `h1:` is known
 * for all of them, and the first client of another platform finds its archive stored.
 */
export class PlatformArchives {
  readonly #names: readonly string[];
  readonly #ensurer: ArchiveEnsurer;
  readonly #turn = new KeyedLimit(atOnce, ofOneNamespace);
  /** Stored, or on their way. */
  readonly #known = new LRUCache<Sha256, true>({
    maxSize: mostRemembered,
    sizeCalculation: () => 1,
  });

  constructor(platforms: readonly Platform[], ensurer: ArchiveEnsurer) {
    this.#names = platforms.map(formatPlatform);
    this.#ensurer = ensurer;
  }

  /** Returns at once. What cannot be had is tried again when the version is asked for again. */
  want(admitted: AdmittedRelease): void {
    const { request, release } = admitted;
    for (const name of this.#names) {
      const found = release.packages.get(name);
      if (found === undefined || this.#known.has(found.sha256)) continue;
      if (this.#turn.pendingCount >= mostWaiting) return;
      this.#known.set(found.sha256, true);
      const { hostname, namespace } = request.provider;
      void this.#turn
        .run(`${hostname}/${namespace}`, async () => {
          const wanted = { ...admitted, found };
          const archive = await ensureArchive(this.#ensurer, wanted);
          await archive.done;
        })
        .catch(() => this.#known.delete(found.sha256));
    }
  }

  close(): void {
    this.#turn.clearQueue();
  }
}
