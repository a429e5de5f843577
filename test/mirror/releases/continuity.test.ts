import { describe, expect, it } from "vitest";
import type { Sha256 } from "../../../src/address/hash.ts";
import {
  ChecksumsMalformed,
  SignatureRefused,
  SignatureUndecided,
} from "../../../src/errors/index.ts";
import {
  documentDigest,
  findContradiction,
  isFall,
  isSameList,
  reconcile,
  type Offer,
} from "../../../src/mirror/releases/continuity.ts";
import type { Release } from "../../../src/mirror/releases/release.ts";
import type { SignatureJudge } from "../../../src/mirror/releases/verdict.ts";
import type { SignatureDecision } from "../../../src/verification/openpgp/signature.ts";
import { accepting, address, believe } from "../../scenes/believed-releases.ts";

const now = new Date("2026-06-01T00:00:00Z");
const before = new SignatureRefused("it", "revoked", "it was before");

interface Case {
  readonly known: Release;
  readonly offered: Release | undefined;
  /** What the known signature is under the keys of now; undefined: nobody can tell. */
  readonly verdict?: SignatureDecision | undefined;
  readonly keys?: readonly string[] | undefined;
  readonly approved?: boolean;
  readonly fallen?: SignatureRefused;
}

const refused = (reason: "revoked" | "unknown-issuer"): SignatureDecision => ({
  accepted: false,
  reason,
  detail: reason,
});

async function continueFrom(one: Case) {
  const { known, offered, keys, approved = false, fallen } = one;
  const judge: SignatureJudge = {
    library: "none",
    decide: (name) =>
      one.verdict === undefined
        ? Promise.reject(new SignatureUndecided(name, "late"))
        : Promise.resolve(one.verdict),
  };
  const offer: Offer =
    offered === undefined
      ? { refused: new ChecksumsMalformed("it", 1, "nonsense") }
      : { release: offered };
  const isApproved = () => approved;
  const standing = { isApproved, fallen, signedAnewBy: undefined };
  const context = { judge, now, standing, first: new Map() };
  const found = await reconcile(address, known, offer, keys, context);
  return {
    serves: documentDigest(found.release) === documentDigest(known),
    by: found.release.checksums.signedBy,
    change: found.change.kind,
    fallen: found.fallen?.reason,
    firstSeen: found.release.firstSeen,
  };
}

const first = new Date("2020-01-01T00:00:00Z");
const known = await believe({ signedBy: "K", firstSeen: first });
const unsigned = await believe({ firstSeen: first });
const same = await believe({ signedBy: "K" });
const other = await believe({ archives: { linux_amd64: "b" }, signedBy: "K" });
const wider = await believe({
  archives: { linux_amd64: "a", darwin_arm64: "c" },
  signedBy: "K",
});
const anew = await believe({ signedBy: "L" });
const widerAnew = await believe({
  archives: { linux_amd64: "a", darwin_arm64: "c" },
  signedBy: "L",
});
const widerOther = await believe({
  archives: { linux_amd64: "a", darwin_arm64: "d" },
  signedBy: "K",
});
const narrower = await believe({
  archives: { windows_amd64: "d" },
  signedBy: "K",
});
const nobody = await believe({});

const none = { change: "none", fallen: undefined };

describe("a known release that is offered", () => {
  it.each<readonly [string, Case, object]>([
    ["as it was", { known, offered: same }, { ...none, serves: true, by: "K" }],
    [
      "with other digests",
      { known, offered: other },
      { change: "replaced", serves: true, by: "K" },
    ],
    [
      "with other digests, which were approved",
      { known, offered: other, approved: true },
      { change: "approved", serves: false, by: "K" },
    ],
    [
      "with more platforms of the same signer",
      { known, offered: wider },
      { ...none, serves: false, by: "K" },
    ],
    [
      "with fewer platforms of the same signer",
      { known: wider, offered: same },
      { ...none, serves: true, by: "K" },
    ],
    [
      "with other platforms instead of its own",
      { known, offered: narrower },
      { ...none, serves: true, by: "K" },
    ],
    [
      "under another key, with the same digests",
      { known, offered: anew },
      { ...none, serves: true, by: "K" },
    ],
    [
      "under another key, with more platforms",
      { known, offered: widerAnew },
      { change: "replaced", serves: true, by: "K" },
    ],
    [
      "under another key, with more platforms, which was approved",
      { known, offered: widerAnew, approved: true },
      { change: "approved", serves: false, by: "L" },
    ],
    [
      "by nobody any more, with the same digests",
      { known, offered: nobody },
      { ...none, serves: true, by: "K" },
    ],
    [
      "by somebody where nobody signed before",
      { known: unsigned, offered: same },
      { ...none, serves: true, by: "K" },
    ],
    [
      "in a form that is refused by itself",
      { known, offered: undefined },
      { change: "replaced", serves: true, by: "K" },
    ],
    [
      "in a form that is refused, whatever was approved",
      { known, offered: undefined, approved: true },
      { change: "replaced", serves: true, by: "K" },
    ],
  ])("%s", async (_, one, expected) => {
    expect(await continueFrom(one)).toMatchObject(expected);
  });

  it("keeps the date on which it was seen first, whatever goes on", async () => {
    for (const offered of [same, other, wider, anew, undefined])
      for (const approved of [true, false]) {
        const found = await continueFrom({ known, offered, approved });
        expect(found.firstSeen).toEqual(first);
      }
  });
});

describe("the signature of a known release, under the keys of now,", () => {
  const keys = ["OTHER KEYS"];
  it.each<readonly [string, Partial<Case>, object]>([
    [
      "falls when it is revoked",
      { keys, verdict: refused("revoked") },
      { fallen: "revoked" },
    ],
    [
      "stays good when they say so",
      { keys, verdict: accepting("K") },
      { fallen: undefined },
    ],
    [
      "stands again when they say so",
      { keys, verdict: accepting("K"), fallen: before },
      { fallen: undefined },
    ],
    [
      "stays good when they have nothing to say of it",
      { keys, verdict: refused("unknown-issuer") },
      { fallen: undefined },
    ],
    [
      "stays fallen when they have nothing to say of it",
      { keys, verdict: refused("unknown-issuer"), fallen: before },
      { fallen: "revoked" },
    ],
    ["stays good when nobody can tell", { keys }, { fallen: undefined }],
    [
      "stays fallen when nobody can tell",
      { keys, fallen: before },
      { fallen: "revoked" },
    ],
    [
      "stays fallen when nobody published any",
      { fallen: before },
      { fallen: "revoked" },
    ],
    [
      "is not judged again under the keys that it was believed under",
      { keys: ["KEYS"], verdict: refused("revoked"), fallen: before },
      { fallen: undefined },
    ],
  ])("%s", async (_, one, expected) => {
    const found = await continueFrom({ known, offered: undefined, ...one });
    expect(found).toMatchObject({ ...expected, change: "replaced" });
  });

  it("gives way, once fallen, to the same digests under another key", async () => {
    const verdict = refused("revoked");
    const found = await continueFrom({ known, offered: anew, keys, verdict });
    expect(found).toMatchObject({
      change: "signed-anew",
      by: "L",
      fallen: undefined,
    });
  });

  it("gives way to nothing that nobody signed", async () => {
    const verdict = refused("revoked");
    const found = await continueFrom({ known, offered: nobody, keys, verdict });
    expect(found).toMatchObject({ ...none, by: "K", fallen: "revoked" });
  });

  it("stands again when the same signer offers the same, which was judged good now", async () => {
    const verdict = refused("revoked");
    const found = await continueFrom({ known, offered: same, keys, verdict });
    expect(found).toMatchObject({ change: "none", by: "K", fallen: undefined });
  });

  it("gives way to no other digests, fallen or not", async () => {
    const verdict = refused("revoked");
    const found = await continueFrom({ known, offered: other, keys, verdict });
    expect(found).toMatchObject({
      change: "replaced",
      serves: true,
      fallen: "revoked",
    });
  });

  it.each([
    ["revoked", true],
    ["key-expired", true],
    ["signature-expired", true],
    ["unknown-issuer", false],
    ["unreadable-key", false],
    ["limits", false],
  ])("is undone by %s: %s", (reason, undone) => {
    expect(isFall(reason)).toBe(undone);
  });
});

describe("what was seen first", () => {
  const [named] = [...known.packages.values()];
  const digest = [...other.packages.values()][0]?.sha256;

  it("is contradicted by another digest under one of its names alone", () => {
    const filename = named?.filename ?? "";
    if (named === undefined || digest === undefined) throw new Error("none");
    const find = (name: string, sha256: Sha256) =>
      findContradiction(address, new Map([[name, sha256]]), known);
    expect(findContradiction(address, new Map(), known)).toBeUndefined();
    expect(find("x.zip", digest)).toBeUndefined();
    expect(find(filename, named.sha256)).toBeUndefined();
    const found = { filename, before: digest, now: named.sha256 };
    expect(find(filename, digest)).toEqual(found);
  });

  it.each<readonly [string, Release, Release]>([
    ["under the same key", wider, widerOther],
    ["under another key", known, widerAnew],
  ])(
    "is held against archives that are named and not offered yet, %s",
    async (_, before, named) => {
      const offered = { ...named, packages: known.packages };
      expect(await continueFrom({ known: before, offered })).toMatchObject({
        change: "replaced",
        serves: true,
      });
    },
  );

  it("is the same list of keys only in the same order", () => {
    expect(isSameList([], [])).toBe(true);
    expect(isSameList(["a", "b"], ["a", "b"])).toBe(true);
    expect(isSameList(["a", "b"], ["b", "a"])).toBe(false);
    expect(isSameList(["a"], ["a", "b"])).toBe(false);
    expect(isSameList(["a", "b"], ["a"])).toBe(false);
  });
});
