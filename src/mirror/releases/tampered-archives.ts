import { LRUCache } from "lru-cache";
import type { ArchiveDigestWrong } from "../../errors/index.ts";

/** Bytes that came in place of a signed archive. */
interface Tampering {
  /** SHA-256 of what came. */
  readonly got: string;
  readonly at: Date;
}

/** Origins may send wrong bytes for any archive, so memory is bounded. */
const mostRemembered = 1_000;

/** The archives that came with other bytes than were signed when they were asked for last, as far as this process saw it. */
export class TamperedArchives {
  readonly #known = new LRUCache<string, Tampering>({ max: mostRemembered });

  note({ expected, got }: ArchiveDigestWrong, at: Date): void {
    this.#known.set(expected, { got, at });
  }

  /** The archive itself came. */
  forget(sha256: string): void {
    this.#known.delete(sha256);
  }

  find(sha256: string): Tampering | undefined {
    return this.#known.get(sha256);
  }
}
