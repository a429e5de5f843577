import { createHash } from "node:crypto";
import { describe, expect, it } from "vitest";
import { parseSha256 } from "../../../src/address/hash.ts";
import {
  documentDigest,
  findContradiction,
  isFall,
  isSameList,
} from "../../../src/mirror/releases/continuity.ts";
import { sketch as believe, digestOf } from "../../scenes/release-sketches.ts";
import { address as thing } from "../../scenes/believed-releases.ts";
import {
  decideContinuity as decide,
  type Case,
} from "../../scenes/continuity-cases.ts";

const same = {};
const other = { content: "linux=b" };
const more = { content: "linux=a darwin=c" };
const two = { content: "linux=a darwin=c" };

describe("first seen wins", () => {
  it.each<[string, Case, string]>([
    ["the same again is taken", { offered: same }, "offered: none"],
    [
      "a platform that the same key adds is taken",
      { offered: more },
      "offered: none",
    ],
    [
      "a platform that is left out stays known",
      { known: two, offered: same },
      "first: none",
    ],
    [
      "one left out for another one stays known",
      { known: two, offered: { content: "linux=a windows=d" } },
      "first: none",
    ],
    [
      "another digest is not taken, from the same key neither",
      { offered: other },
      "first: replaced",
    ],
    [
      "another digest for one of two platforms is not taken",
      { known: two, offered: { content: "linux=a darwin=d" } },
      "first: replaced",
    ],
    [
      "two digests that changed places are not taken",
      {
        known: { content: "linux=a darwin=b" },
        offered: { content: "linux=b darwin=a" },
      },
      "first: replaced",
    ],
    [
      "another digest that an operator approved is taken",
      { offered: other, approved: "this" },
      "offered: approved",
    ],
    [
      "an approval of another content is none of this",
      { offered: other, approved: "another" },
      "first: replaced",
    ],
    [
      "what is refused changes nothing, whatever is approved",
      { offered: undefined, approved: "this" },
      "first: replaced",
    ],
    [
      "what is refused changes nothing",
      { offered: undefined },
      "first: replaced",
    ],
  ])("%s", async (_rule, row, expected) => {
    expect(await decide(row)).toBe(expected);
  });
});

describe("under another key, while the first signature stands,", () => {
  const stranger = { by: "S" };
  it.each<[string, Case, string]>([
    [
      "the same content leaves the first signature",
      { offered: stranger },
      "first: none",
    ],
    [
      "a platform more is another content",
      { offered: { ...stranger, ...more } },
      "first: replaced",
    ],
    [
      "a platform more is taken once approved",
      { offered: { ...stranger, ...more }, approved: "this" },
      "offered: approved",
    ],
    [
      "a platform less is nothing new",
      { known: two, offered: stranger },
      "first: none",
    ],
    [
      "another digest is not taken",
      { offered: { ...stranger, ...other } },
      "first: replaced",
    ],
    [
      "nor is the same content that nobody signed",
      { offered: { by: undefined } },
      "first: none",
    ],
    [
      "nor a platform more that nobody signed",
      { offered: { by: undefined, ...more } },
      "first: replaced",
    ],
  ])("%s", async (_rule, row, expected) => {
    expect(await decide(row)).toBe(expected);
  });
});

describe("what nobody signed at first", () => {
  const unsigned = { by: undefined };
  it.each<[string, Case, string]>([
    [
      "is taken with a signature",
      { known: unsigned, offered: same },
      "offered: none",
    ],
    [
      "is taken with a platform more",
      { known: unsigned, offered: more },
      "offered: none",
    ],
    [
      "is taken with a platform more that nobody signed",
      { known: unsigned, offered: { ...unsigned, ...more } },
      "offered: none",
    ],
    [
      "keeps its digests also against a signature",
      { known: unsigned, offered: other },
      "first: replaced",
    ],
  ])("%s", async (_rule, row, expected) => {
    expect(await decide(row)).toBe(expected);
  });
});

describe("a network mirror that told the h1 alone", () => {
  const mirror = { source: "network-mirror", content: "darwin=z" } as const;
  const now = { content: "darwin=z linux=a" };
  it.each<[string, Case, string]>([
    [
      "may name the digest of the same h1",
      {
        known: { ...mirror, told: "linux=x" },
        offered: { ...now, told: "linux=x" },
      },
      "offered: none",
    ],
    [
      "may name the digest of one of several h1s",
      {
        known: { ...mirror, told: "linux=xy" },
        offered: { ...now, told: "linux=yz" },
      },
      "offered: none",
    ],
    [
      "may not name the digest of another h1",
      {
        known: { ...mirror, told: "linux=x" },
        offered: { ...now, told: "linux=y" },
      },
      "first: replaced",
    ],
    [
      "may name any digest where it told no h1 first",
      { known: mirror, offered: { ...now, told: "linux=y" } },
      "offered: none",
    ],
    [
      "may name any digest where it tells no h1 now",
      { known: { ...mirror, told: "linux=x" }, offered: now },
      "offered: none",
    ],
    [
      "may tell another h1 of an archive whose digest it named and names again",
      {
        known: { ...mirror, ...now, told: "linux=x" },
        offered: { ...now, told: "linux=y" },
      },
      "offered: none",
    ],
    [
      "is no registry, whose reports nobody holds against its signature",
      {
        known: { content: "darwin=z", told: "linux=x" },
        offered: { ...now, told: "linux=y" },
      },
      "offered: none",
    ],
  ])("%s", async (_rule, row, expected) => {
    expect(await decide(row)).toBe(expected);
  });
});

it("a content is named by the SHA-256 of its SHA256SUMS", async () => {
  const release = await believe({ by: "K" });
  const { document } = release.proof;
  const digest = createHash("sha256").update(document).digest("hex");
  expect(documentDigest(release)).toBe(digest);
});

it("only revocation and expiry undo a signature that was good", () => {
  const reasons = ["revoked", "key-expired", "signature-expired"];
  for (const reason of reasons) expect(isFall(reason)).toBe(true);
  for (const reason of ["unknown-issuer", "weak", "bad-signature", ""])
    expect(isFall(reason)).toBe(false);
});

it.each<[string[], string[], boolean]>([
  [[], [], true],
  [["a"], ["a"], true],
  [["a"], ["b"], false],
  [["a", "b"], ["b", "a"], false],
  [["a"], ["a", "b"], false],
  [["a", "b"], ["a"], false],
])("the lists of keys %j and %j are the same: %s", (a, b, expected) => {
  expect(isSameList(a, b)).toBe(expected);
});

describe("a contradiction to what was seen first", () => {
  const file = "terraform-provider-thing_1.0.0_linux_amd64.zip";
  const first = (digest: string, at = file) =>
    new Map([[at, parseSha256(digest)]]);
  it.each([
    ["is another digest under the same name", first(digestOf("b")), true],
    ["is not the same digest", first(digestOf("a")), false],
    ["is no name that was not seen", first(digestOf("b"), "x.zip"), false],
    ["is nothing where nothing was seen", new Map(), false],
  ])("%s", async (_rule, seen, found) => {
    const release = await believe({ by: "K" });
    expect(findContradiction(thing, seen, release)).toEqual(
      found
        ? { filename: file, before: digestOf("b"), now: digestOf("a") }
        : undefined,
    );
  });
});
