import { describe, expect, it } from "vitest";
import {
  padZeros,
  takeMpi,
  trimZeros,
} from "../../../../src/verification/openpgp/packets/bytes.ts";
import {
  Contents,
  OctetSource,
  takeLength,
} from "../../../../src/verification/openpgp/packets/octets.ts";
import {
  EndOfPackets,
  formatRefusal,
  Refused,
  Unreadable,
} from "../../../../src/verification/openpgp/packets/refusal.ts";
import { octetsOf } from "./octets-read.ts";

const source = (words: string) => new OctetSource(octetsOf(words));
const wordsOf = (octets: Uint8Array) => octets.join(" ");

it.each([
  ["0", 0, false],
  ["191", 191, false],
  ["192 0", 192, false],
  ["223 255", 8383, false],
  ["224", 1, true],
  ["254", 2 ** 30, true],
  ["255 0 1 0 2", 65_538, false],
])(
  "a packet whose header says %s has %i octets",
  (words, length, isPartial) => {
    expect(takeLength(source(words))).toEqual({ length, isPartial });
  },
);

it.each(["", "192", "255 0 0 1"])("a length of %j is unreadable", (words) => {
  expect(() => takeLength(source(words))).toThrow(Unreadable);
});

describe("the octets of a block", () => {
  it("end where they end", () => {
    const octets = source("1 2 3");
    expect(wordsOf(octets.take(2))).toBe("1 2");
    expect(() => octets.take(2)).toThrow("2 octets expected, 1 there");
    expect(wordsOf(octets.takeSome(2))).toBe("");
  });

  it("are unreadable from a fault on, for who asks for them", () => {
    const octets = new OctetSource(Uint8Array.of(1), "a fault");
    expect(wordsOf(octets.takeSome(2))).toBe("1");
    expect(wordsOf(octets.take(0))).toBe("");
    expect(() => octets.takeSome(1)).toThrow(new Unreadable("a fault"));
  });
});

describe("the octets of a packet", () => {
  const left = (octets: OctetSource) => wordsOf(octets.takeSome(Infinity));

  it("are those of its length", () => {
    const octets = source("1 2 3");
    const contents = new Contents(octets, 2);
    expect(wordsOf(contents.take(1))).toBe("1");
    expect(wordsOf(contents.takeRest())).toBe("2");
    expect(wordsOf(contents.takeRest())).toBe("");
    expect(() => contents.take(1)).toThrow("1 octets expected, 0 there");
    expect(left(octets)).toBe("3");
  });

  it("are those of its parts", () => {
    const octets = source("1 2 224 3 1 4 5");
    const contents = new Contents(octets, 2, true);
    expect(wordsOf(contents.take(3))).toBe("1 2 3");
    expect(wordsOf(contents.takeRest())).toBe("4");
    expect(left(octets)).toBe("5");
  });

  it("are all that there are where it has no length", () => {
    expect(wordsOf(new Contents(source("1 2 3")).takeRest())).toBe("1 2 3");
  });

  it("are unreadable where it is cut", () => {
    expect(() => new Contents(source("1"), 2).takeRest()).toThrow(
      "a packet is cut",
    );
    expect(() => new Contents(source("1"), 1, true).takeRest()).toThrow(
      Unreadable,
    );
  });

  it("end all packets where one is asked for and there is none", () => {
    const contents = () => new Contents(source("1"), 1);
    expect(wordsOf(contents().takeOrEnd(1))).toBe("1");
    expect(() => contents().takeOrEnd(2)).toThrow(Unreadable);
    const empty = new Contents(source(""), 0);
    expect(wordsOf(empty.takeOrEnd(0))).toBe("");
    expect(() => empty.takeOrEnd(1)).toThrow(EndOfPackets);
  });

  it("are passed over to its end, or to where it is cut", () => {
    const [whole, cut] = [source("1 224 2 0 3"), source("1 224")];
    new Contents(whole, 1, true).skip();
    expect(left(whole)).toBe("3");
    new Contents(cut, 1, true).skip();
    expect(left(cut)).toBe("");
  });

  it("of padding are passed over, unless it comes in parts", () => {
    const [whole, inParts] = [source("1 2"), source("1 2")];
    new Contents(whole, 1).skipPadding();
    expect(left(whole)).toBe("2");
    new Contents(inParts, 1, true).skipPadding();
    expect(left(inParts)).toBe("1 2");
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
