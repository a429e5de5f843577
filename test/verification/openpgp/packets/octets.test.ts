import { describe, expect, it } from "vitest";
import {
  padZeros,
  takeMpi,
  trimZeros,
} from "../../../../src/verification/openpgp/packets/bytes.ts";
import {
  Octets,
  takeLength,
} from "../../../../src/verification/openpgp/packets/octets.ts";
import {
  formatRefusal,
  Refused,
  Unreadable,
  Unsupported,
} from "../../../../src/verification/openpgp/packets/refusal.ts";
import { octetsOf } from "./octets-read.ts";

const source = (words: string) => new Octets(octetsOf(words));
const wordsOf = (octets: Uint8Array) => octets.join(" ");

it.each([
  ["0", 0],
  ["191", 191],
  ["192 0", 192],
  ["223 255", 8383],
  ["255 0 1 0 2", 65_538],
])("a packet whose header says %s has %i octets", (words, length) => {
  expect(takeLength(source(words))).toBe(length);
});

it.each(["", "192", "255 0 0 1", "224 1 0", "254"])(
  "a length of %j is unreadable",
  (words) => {
    expect(() => takeLength(source(words))).toThrow(Unreadable);
  },
);

describe("the octets of a block", () => {
  it("end where they end", () => {
    const octets = source("1 2 3");
    expect(wordsOf(octets.take(2))).toBe("1 2");
    expect(() => octets.take(2)).toThrow("2 octets expected, 1 there");
    expect(octets.isOver).toBe(false);
    expect(wordsOf(octets.takeRest())).toBe("3");
    expect(octets.isOver).toBe(true);
  });

  it("are unreadable from a fault on, for who asks for them", () => {
    const octets = new Octets(Uint8Array.of(1), "a fault");
    const fault = new Unreadable("a fault");
    expect(() => octets.takeRest()).toThrow(fault);
    expect(wordsOf(octets.take(1))).toBe("1");
    expect(wordsOf(octets.take(0))).toBe("");
    expect(() => octets.take(1)).toThrow(fault);
    expect(() => octets.isOver).toThrow(fault);
  });
});

describe("the octets of a packet", () => {
  const opened = (words: string, length: number) => {
    const octets = source(words);
    octets.open(length);
    return octets;
  };

  it("are those of its length, and what is not taken is the next packet", () => {
    const octets = opened("1 2 3", 2);
    expect(wordsOf(octets.take(1))).toBe("1");
    expect(() => octets.take(2)).toThrow("2 octets expected, 1 there");
    expect(wordsOf(octets.since(0))).toBe("1");
    octets.close();
    expect(wordsOf(octets.takeRest())).toBe("2 3");
  });

  it("are all that there are where it has no length", () => {
    expect(wordsOf(opened("1 2 3", Infinity).takeRest())).toBe("1 2 3");
  });

  it("are unreadable where it is cut", () => {
    expect(() => opened("1", 2).takeRest()).toThrow(Unreadable);
  });

  it("end all packets where one is asked for and there is none", () => {
    expect(wordsOf(opened("1", 1).takeOrEnd(1))).toBe("1");
    expect(() => opened("1", 1).takeOrEnd(2)).toThrow(Unreadable);
    const empty = opened("7 7", 0);
    expect(() => empty.takeOrEnd(1)).toThrow(Unsupported);
    expect(empty.isOver).toBe(true);
    expect(() => opened("", 1).takeOrEnd(1)).toThrow(Unreadable);
  });

  it("are passed over to its end, or to where it is cut", () => {
    for (const [length, position] of [
      [2, 2],
      [9, 3],
      [Infinity, 3],
    ] as const) {
      const octets = opened("1 2 3", length);
      octets.skip();
      expect(octets.position).toBe(position);
    }
  });
});

it.each([
  ["0 0", "", 0],
  ["0 1 0", "0", 0],
  ["0 1 1", "1", 1],
  ["0 9 1 255", "1 255", 9],
  ["0 16 0 255", "0 255", 8],
])("the number %s has the octets %j and %i bits", (words, octets, bits) => {
  const number = takeMpi(source(words));
  expect([wordsOf(number.bytes), number.bits]).toEqual([octets, bits]);
});

it("zeros in front of a number are taken away and put there", () => {
  expect(wordsOf(trimZeros(octetsOf("0 0 1 0")))).toBe("1 0");
  expect(wordsOf(trimZeros(octetsOf("0 0")))).toBe("");
  expect(wordsOf(padZeros(octetsOf("1 2"), 2) ?? octetsOf("9"))).toBe("1 2");
  expect(wordsOf(padZeros(octetsOf("1 2"), 4) ?? octetsOf("9"))).toBe(
    "0 0 1 2",
  );
  expect(padZeros(octetsOf("1 2"), 1)).toBeUndefined();
});

it("what refuses nothing is no decision", () => {
  expect(formatRefusal(new Refused("limits", "many"))).toEqual({
    accepted: false,
    reason: "limits",
    detail: "many",
  });
  const fault = new Error("a fault");
  expect(() => formatRefusal(fault)).toThrow(fault);
});
