import fc from "../../seeded.ts";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { isFailure } from "../../../src/errors/index.ts";
import { hashPackage } from "../../../src/verification/archives/package-hash.ts";
import { effort } from "../../effort.ts";
import { differingZips } from "./differing-zips.ts";
import { GoReader, hasGo } from "./go-reader.ts";
import { limits, withArchive } from "./own-reading.ts";
import { soundZips } from "./sound-zips.ts";
import { zip64Bytes, zipBytes, type ZipPart } from "./zip-bytes.ts";

const numRuns = 1_000 * effort;

let go: GoReader | undefined;

beforeAll(() => {
  go = hasGo ? new GoReader() : undefined;
}, 120_000);

afterAll(() => go?.stop());

if (!hasGo)
  it.skip("mutated archives have the h1 that Go computes: go is not on PATH", () =>
    undefined);

/** Mutation of bytes at a place: set, cut, doubled, or exchanged with others. */
type Mutation = readonly [
  kind: "set" | "cut" | "double" | "exchange",
  place: number,
  byte: number,
  other: number,
];

const telling = [0, 1, 8, 0x20, 0x2f, 0x30, 0x31, 0x35, 0x37, 0x4c, 0x78];
const mutation: fc.Arbitrary<Mutation> = fc.tuple(
  fc.constantFrom("set", "set", "set", "cut", "double", "exchange"),
  fc.nat(1 << 20),
  fc.oneof(fc.constantFrom(...telling, 0x67, 0x80, 0xff), fc.nat(255)),
  fc.nat(1 << 20),
);
const mutations = fc.array(mutation, { maxLength: 4 });

/** Lengths are of `unit` bytes, but for "set". */
function mutate(
  bytes: Buffer,
  [kind, place, byte, other]: Mutation,
  unit: number,
): Buffer {
  if (bytes.length < unit) return bytes;
  const at = place % bytes.length;
  if (kind === "set") {
    const copy = Buffer.from(bytes);
    copy[at] = byte;
    return copy;
  }
  const units = Math.floor(bytes.length / unit);
  const start = (place % units) * unit;
  const piece = bytes.subarray(start, start + unit);
  const [before, after] = [
    bytes.subarray(0, start),
    bytes.subarray(start + unit),
  ];
  if (kind === "cut") return Buffer.concat([before, after]);
  if (kind === "double") return Buffer.concat([before, piece, piece, after]);
  const copy = Buffer.from(bytes);
  const there = (other % units) * unit;
  bytes.copy(copy, start, there, there + unit);
  piece.copy(copy, there);
  return copy;
}

/** Entries whose two headers tell the same, mostly. */
const part: fc.Arbitrary<ZipPart> = fc.record(
  {
    name: fc.constantFrom("a", "A", "b/", "b/c", "é", "./d", "a\\b", "e\0f"),
    content: fc.constantFrom("", "x", "text".repeat(100)),
    deflate: fc.boolean(),
    flags: fc.constantFrom(0, 0, 8, 0x800, 0x808, 2),
    host: fc.constantFrom(0, 3, 3, 3, 10, 19),
    attributes: fc.constantFrom(
      0,
      0x10,
      0x20,
      0x81a40000,
      0x41ed0010,
      0xa1ff0000,
    ),
    local: fc.constantFrom(
      {},
      {},
      {},
      {},
      { flags: 8 },
      { size: 0 },
      { method: 8 },
    ),
  },
  { requiredKeys: ["name", "content"] },
);
const written = fc.oneof(
  fc.constantFrom(...Object.values(soundZips), ...Object.values(differingZips)),
  fc.array(part, { maxLength: 4 }).map((parts) => zipBytes(parts)),
  fc.array(part, { maxLength: 4 }).map((parts) => zip64Bytes(parts)),
);
/** One in four as it was written, since few mutated ones are accepted. */
const zips = fc
  .tuple(written, fc.option(mutations, { freq: 3, nil: [] }))
  .map(([zip, changes]) =>
    changes.reduce((bytes, change) => mutate(bytes, change, 2), zip),
  );

describe.runIf(hasGo)("a mutated archive", () => {
  it(
    "that has an h1 has the one that Go computes",
    { timeout: 60_000 * effort },
    async () => {
      let hashed = 0;
      const check = async (bytes: Buffer) => {
        const ours = await withArchive(bytes, (archive) =>
          hashPackage(archive, limits),
        ).catch((error: unknown) => {
          if (!isFailure(error, "archive-unhashable")) throw error;
        });
        if (ours === undefined) return;
        hashed++;
        expect((await go?.read("zip", bytes))?.h1).toBe(ours);
      };
      await fc.assert(fc.asyncProperty(zips, check), { numRuns });
      expect(hashed).toBeGreaterThan(numRuns / 20);
    },
  );
});
