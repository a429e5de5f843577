import { createHash } from "node:crypto";
import { describe, expect, it } from "vitest";
import type { Sha256 } from "../../../src/address/hash.ts";

/** Operations of every store of archives; each call acts as another process. */
export interface BlobsUnderTest {
  /** Stores these bytes, of which the caller knows the digest; done also when they are stored. */
  create(sha256: Sha256, bytes: Buffer): Promise<void>;
  /** All bytes; undefined when there are none. */
  read(sha256: Sha256): Promise<Buffer | undefined>;
  size(sha256: Sha256): Promise<number | undefined>;
  /** Removes an archive; succeeds without one, too. */
  remove(sha256: Sha256): Promise<void>;
  list(): Promise<readonly Sha256[]>;
}

const digest = (bytes: Buffer) =>
  createHash("sha256").update(bytes).digest("hex") as Sha256;

const bytes = Buffer.alloc(300_000, "archive");
const sha256 = digest(bytes);

/** The cases of the contract; `make` gives an empty store. */
export function itIsABlobStore(make: () => Promise<BlobsUnderTest>): void {
  describe("blobs by digest", () => {
    it("are absent, then stored whole, then absent after a removal, which may be done twice", async () => {
      const blobs = await make();
      expect(await blobs.read(sha256)).toBeUndefined();
      expect(await blobs.size(sha256)).toBeUndefined();
      await blobs.create(sha256, bytes);
      expect((await blobs.read(sha256))?.equals(bytes)).toBe(true);
      expect(await blobs.size(sha256)).toBe(bytes.length);
      await blobs.remove(sha256);
      await blobs.remove(sha256);
      expect(await blobs.read(sha256)).toBeUndefined();
    });

    it("stay what they are when the same bytes come again, also many at once", async () => {
      const blobs = await make();
      const creating = Array.from({ length: 8 }, () =>
        blobs.create(sha256, bytes),
      );
      const seen = await Promise.all(
        Array.from({ length: 8 }, () => blobs.read(sha256)),
      );
      await Promise.all(creating);
      for (const read of seen)
        expect(read === undefined || read.equals(bytes)).toBe(true);
      expect((await blobs.read(sha256))?.equals(bytes)).toBe(true);
      expect(await blobs.list()).toEqual([sha256]);
    });

    it("may be empty, and are listed all", async () => {
      const blobs = await make();
      const all = ["", "a", "b"].map((text) => Buffer.from(text));
      for (const one of all) await blobs.create(digest(one), one);
      expect((await blobs.list()).toSorted()).toEqual(
        all.map(digest).toSorted(),
      );
      expect(await blobs.size(digest(Buffer.alloc(0)))).toBe(0);
    });
  });
}
