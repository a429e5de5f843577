import { Readable } from "node:stream";
import { expect, it } from "vitest";
import { ByteReader } from "../../../src/verification/archives/byte-reader.ts";

const pieces = ["ab", "", "cdef", "g"].map((text) => Buffer.from(text));

it.each([
  ["a list", () => pieces],
  ["a stream", () => Readable.from(pieces)],
])(
  "reads exactly so many bytes of %s, whatever its pieces",
  async (_, open) => {
    const reader = new ByteReader(open());
    const read = async (length: number) =>
      String(await reader.readUpTo(length));
    expect(await read(0)).toBe("");
    expect(await read(1)).toBe("a");
    expect(await read(3)).toBe("bcd");
    expect(await reader.skip(2)).toBe(true);
    expect(await reader.skip(0)).toBe(true);
    expect(await read(2)).toBe("g");
    expect(await read(1)).toBe("");
    expect(await reader.skip(0)).toBe(true);
  },
);

it("tells that it ended before what was to be skipped", async () => {
  expect(await new ByteReader(pieces).skip(7)).toBe(true);
  expect(await new ByteReader(pieces).skip(8)).toBe(false);
});

it("asks for no piece before it needs one", async () => {
  let asked = 0;
  const count = function* () {
    for (const piece of pieces) {
      asked++;
      yield piece;
    }
  };
  const reader = new ByteReader(count());
  await reader.readUpTo(2);
  await reader.skip(0);
  expect(asked).toBe(1);
});
