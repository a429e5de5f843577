import { createHash } from "node:crypto";
import type { Sha256 } from "../../../address/hash.ts";
import { blobObject } from "../../layout.ts";
import type { BucketBlobs } from "../bucket-blobs.ts";

/** The archives of a bucket, to be hashed as those of a directory are; with `sample` so many of them, at random. */
export class InspectedArchives {
  readonly #shared: BucketBlobs;
  readonly #sample: number;

  constructor(shared: BucketBlobs, sample = Infinity) {
    this.#shared = shared;
    this.#sample = sample;
  }

  async *list(): AsyncGenerator<{
    readonly sha256: Sha256;
    readonly path: string;
    readonly size: number;
  }> {
    const all = [];
    for await (const one of this.#shared.list())
      all.push({ ...one, path: blobObject(one.sha256) });
    if (all.length <= this.#sample) yield* all;
    else yield* choose(all, this.#sample);
  }

  async inspect(
    sha256: Sha256,
    onPiece: (length: number) => void,
  ): Promise<"good" | "missing" | { readonly problem: string }> {
    const found = await this.#shared.open(sha256);
    if (found === undefined) return "missing";
    const hash = createHash("sha256");
    for await (const piece of found.body) {
      hash.update(piece);
      onPiece(piece.length);
    }
    const got = hash.digest("hex");
    return got === sha256 ? "good" : { problem: `its SHA-256 is ${got}` };
  }

  async delete(sha256: Sha256): Promise<void> {
    await this.#shared.delete(sha256);
  }
}

function choose<T>(all: T[], count: number): readonly T[] {
  const weighed = all.map((one) => ({ one, weight: Math.random() }));
  return weighed
    .toSorted((a, b) => a.weight - b.weight)
    .slice(0, count)
    .map(({ one }) => one);
}
