import { LRUCache } from "lru-cache";
import type { Sha256 } from "../../address/hash.ts";
import { formatPlatform, type Platform } from "../../address/platform.ts";
import { KeyedLimit } from "../../concurrency/keyed-limit.ts";
import type { AdmittedPackage, AdmittedRelease } from "./provider-mirror.ts";
import { ensureArchive, type ArchiveEnsurer } from "./ensured-archive.ts";

/** Clients that wait come first, so few are fetched at once. */
const atOnce = 3;
const ofOneNamespace = 2;
const mostWaiting = 1024;
const mostRemembered = 10_000;

/**
 * Fetches and hashes archives of some platforms in the background, for every
 * version that clients request.
 * So its `h1:` is known for all of them, and the first client of another
 * platform finds its archive stored.
 */
export class PlatformArchives {
  readonly #names: readonly string[];
  readonly #ensurer: ArchiveEnsurer;
  readonly #turn = new KeyedLimit(atOnce, ofOneNamespace);
  /** Stored, or on their way. */
  readonly #known = new LRUCache<Sha256, true>({ max: mostRemembered });

  constructor(platforms: readonly Platform[], ensurer: ArchiveEnsurer) {
    this.#names = platforms.map(formatPlatform);
    this.#ensurer = ensurer;
  }

  /** Returns at once. What cannot be had is tried again when the version is asked for again. */
  want({ request, release }: AdmittedRelease): void {
    for (const name of this.#names) {
      const found = release.packages.get(name);
      if (found === undefined || this.#known.has(found.sha256)) continue;
      if (this.#turn.pendingCount >= mostWaiting) return;
      this.#known.set(found.sha256, true);
      const { hostname, namespace } = request.provider;
      void this.#turn
        .run(`${hostname}/${namespace}`, () =>
          this.#ensure({ request, release, found }),
        )
        .catch(() => this.#known.delete(found.sha256));
    }
  }

  close(): void {
    this.#turn.clearQueue();
  }

  async #ensure(wanted: AdmittedPackage): Promise<void> {
    const archive = await ensureArchive(this.#ensurer, wanted);
    await archive.done;
  }
}
