import { describe, expect, it } from "vitest";
import { reconcile } from "../../../src/mirror/releases/continuity.ts";
import type { SignatureJudge } from "../../../src/mirror/releases/verdict.ts";
import { address as thing } from "../../scenes/believed-releases.ts";
import { sketch as believe, judgeFor } from "../../scenes/release-sketches.ts";
import {
  decideContinuity as decide,
  now,
  type Case,
  type Said,
} from "../../scenes/continuity-cases.ts";

const same = {};
const other = { content: "linux=b" };
const more = { content: "linux=a darwin=c" };
const two = { content: "linux=a darwin=c" };

/** Nothing was decided, and nothing else was seen. */
const nothing = {
  standing: {
    isApproved: () => false,
    fallen: undefined,
    signedAnewBy: undefined,
  },
  first: new Map(),
};

describe("a release falls with its signature", () => {
  const bySame = (said: Said, fell?: string): Case => ({
    offered: undefined,
    said,
    ...(fell === undefined ? {} : { fell }),
  });
  it.each<[string, Case, string]>([
    [
      "when its key is revoked under the keys of now",
      bySame("revoked"),
      "first: replaced, fallen: revoked",
    ],
    [
      "when its key has expired under them",
      bySame("key-expired"),
      "first: replaced, fallen: key-expired",
    ],
    [
      "when it has expired itself under them",
      bySame("signature-expired"),
      "first: replaced, fallen: signature-expired",
    ],
    [
      "not when its key is published no more",
      bySame("unknown-issuer"),
      "first: replaced",
    ],
    [
      "not when the keys cannot be read",
      bySame("unreadable-key"),
      "first: replaced",
    ],
    [
      "not when nothing could be decided",
      bySame("undecided"),
      "first: replaced",
    ],
    ["not when nobody publishes a key", bySame("no keys"), "first: replaced"],
    ["not when it is good", bySame("good"), "first: replaced"],
  ])("%s", async (_rule, row, expected) => {
    expect(await decide(row)).toBe(expected);
  });

  it.each<[string, Said, string]>([
    [
      "stays fallen while its key is not published",
      "unknown-issuer",
      "revoked",
    ],
    ["stays fallen while the keys cannot be read", "unreadable-key", "revoked"],
    ["stays fallen while nothing could be decided", "undecided", "revoked"],
    ["stays fallen while nobody publishes a key", "no keys", "revoked"],
    ["falls for the reason of now", "key-expired", "key-expired"],
    ["stands again when the keys of now say so", "good", ""],
    ["stands again under the very keys it came with", "the same keys", ""],
  ])("and, once fallen, %s", async (_rule, said, reason) => {
    const end = reason === "" ? "" : `, fallen: ${reason}`;
    expect(await decide(bySame(said, "revoked"))).toBe(`first: replaced${end}`);
  });

  it("is not told by what else goes wrong, which is thrown on", async () => {
    const known = await believe({ by: "K" });
    const failure = new Error("the disk");
    const judge = { library: "", decide: () => Promise.reject(failure) };
    const asked = reconcile(thing, known, { release: known }, ["other"], {
      judge,
      now,
      ...nothing,
    });
    await expect(asked).rejects.toBe(failure);
  });

  it("as of now, not as of when it was believed", async () => {
    const known = await believe({ by: "K" });
    const moments: Date[] = [];
    const good = judgeFor("K");
    const judge: SignatureJudge = {
      library: "",
      decide: (release, question) => {
        moments.push(question.now);
        return good.decide(release, question);
      },
    };
    const context = { judge, now, ...nothing };
    await reconcile(thing, known, { release: known }, ["other"], context);
    expect(moments).toEqual([now]);
  });
});

describe("where the first signature fell", () => {
  it.each<[string, Case, string]>([
    [
      "the same digests under another key are taken",
      { offered: { by: "S" }, said: "revoked" },
      "offered: signed-anew, before K",
    ],
    [
      "fewer platforms under another key are taken",
      { known: two, offered: { by: "S" }, said: "revoked" },
      "offered: signed-anew, before K",
    ],
    [
      "more platforms under another key are not",
      { offered: { by: "S", ...more }, said: "revoked" },
      "first: replaced, fallen: revoked",
    ],
    [
      "more platforms under another key are when approved",
      { offered: { by: "S", ...more }, said: "revoked", approved: "this" },
      "offered: approved",
    ],
    [
      "other digests under another key are not",
      { offered: { by: "S", ...other }, said: "revoked" },
      "first: replaced, fallen: revoked",
    ],
    [
      "the same key may sign the same anew",
      { offered: same, said: "signature-expired" },
      "offered: none",
    ],
    [
      "the same key may sign fewer platforms anew",
      { known: two, offered: same, said: "signature-expired" },
      "offered: none",
    ],
    [
      "the same key may not sign other digests",
      { offered: other, said: "signature-expired" },
      "first: replaced, fallen: signature-expired",
    ],
    [
      "a platform that was seen first and is back may not have another digest",
      {
        known: { by: "S" },
        first: two,
        offered: { by: "S", content: "linux=a darwin=d" },
      },
      "first: replaced",
    ],
    [
      "it may have its own, also under the key that signed anew",
      {
        known: { by: "S" },
        first: two,
        offered: { by: "S", ...two },
        anewBy: "S",
      },
      "offered: none",
    ],
    [
      "who signed anew adds no platform",
      { known: { by: "S" }, offered: { by: "S", ...more }, anewBy: "S" },
      "first: replaced",
    ],
    [
      "who signed anew adds one when approved",
      {
        known: { by: "S" },
        offered: { by: "S", ...more },
        anewBy: "S",
        approved: "this",
      },
      "offered: approved",
    ],
    [
      "a platform may come under the first key whoever else signed anew",
      { offered: more, anewBy: "S" },
      "offered: none",
    ],
    [
      "the same digests that nobody signs are not taken",
      { offered: { by: undefined }, said: "revoked" },
      "first: none, fallen: revoked",
    ],
    [
      "nor where nobody signed before",
      { known: { by: undefined }, offered: { by: undefined }, fell: "revoked" },
      "first: none, fallen: revoked",
    ],
    [
      "a signature that is good now is taken where nobody signed before",
      {
        known: { by: undefined },
        offered: { by: "K" },
        said: "good",
        fell: "revoked",
      },
      "offered: none",
    ],
    [
      "what fell before counts like what falls now",
      { offered: { by: "S" }, said: "unknown-issuer", fell: "revoked" },
      "offered: signed-anew, before K",
    ],
  ])("%s", async (_rule, row, expected) => {
    expect(await decide(row)).toBe(expected);
  });
});
