import { describe, expect, it } from "vitest";
import { joinReleases } from "../../../src/mirror/releases/joined-releases.ts";
import type { KnownRelease } from "../../../src/mirror/releases/known-release.ts";
import {
  readReleaseBody,
  writeReleaseBody,
} from "../../../src/mirror/releases/release-body.ts";
import { address } from "../../scenes/believed-releases.ts";
import { digestOf, knownOf } from "../../scenes/release-sketches.ts";

const recorded = (value: KnownRelease) =>
  readReleaseBody(writeReleaseBody({ value, confirmedAt: new Date(0) }));

const withPin = (
  value: KnownRelease,
  pin: Partial<NonNullable<KnownRelease["trust"]["pinned"]>>,
): KnownRelease => {
  const { pinned } = value.trust;
  return {
    ...value,
    trust: { ...value.trust, pinned: pinned && { ...pinned, ...pin } },
  };
};

const digests = ({ trust }: KnownRelease) =>
  Object.fromEntries(trust.pinned?.content ?? []);

describe("a release that is joined to its record", () => {
  it("is itself where nothing is recorded, or the same", async () => {
    const ours = await knownOf({ by: "K" });
    for (const before of [undefined, recorded(ours)])
      expect(joinReleases(address, ours, undefined, before)).toEqual({
        value: ours,
        isRead: true,
      });
  });

  it("has the pinned checksums of the record, and its own evidence last", async () => {
    const [theirs, ours] = [
      await knownOf({ by: "K", content: "linux=b" }),
      await knownOf({ by: "K", content: "linux=a" }),
    ];
    const joined = joinReleases(address, ours, undefined, recorded(theirs));
    expect(joined.isRead).toBe(false);
    expect(joined.value.trust.pinned).toEqual(theirs.trust.pinned);
    const [first, last] = joined.value.trust.evidence;
    expect(first).toMatchObject({ isGood: false, noted: "known" });
    expect(first?.fault?.code).toBe("signature-undecided");
    expect(last).toBe(ours.trust.evidence[0]);
  });

  it("has the platforms that either has pinned, where they agree", async () => {
    const [theirs, ours] = [
      await knownOf({ by: "K", content: "linux=a darwin=b" }),
      await knownOf({ by: "K", content: "linux=a win=c" }),
    ];
    const { value } = joinReleases(address, ours, undefined, recorded(theirs));
    expect(digests(value)).toEqual({
      linux_amd64: digestOf("a"),
      darwin_amd64: digestOf("b"),
      win_amd64: digestOf("c"),
    });
    expect(value.trust.pinned?.at).toEqual(theirs.trust.pinned?.at);
  });

  it.each([
    [true, false],
    [false, true],
  ])(
    "has its line in the audit log once either has (theirs: %s, ours: %s)",
    async (theirs, mine) => {
      const known = await knownOf({ by: "K" });
      const { value } = joinReleases(
        address,
        withPin(known, { isAudited: mine }),
        known,
        recorded(withPin(known, { isAudited: theirs })),
      );
      expect(value.trust.pinned?.isAudited).toBe(true);
    },
  );

  it("does not get back the evidence that it dropped itself", async () => {
    const known = await knownOf(
      { by: "K", content: "linux=a" },
      { by: "K", content: "linux=e" },
    );
    const [kept] = known.trust.evidence;
    if (kept === undefined) throw new Error("it has no evidence");
    const ours = { ...known, trust: { ...known.trust, evidence: [kept] } };
    const joined = joinReleases(address, ours, known, recorded(known));
    expect(joined).toEqual({ value: ours, isRead: true });
    const rejoined = joinReleases(address, ours, undefined, recorded(known));
    expect(rejoined.value.trust.evidence).toHaveLength(2);
  });

  it("takes the first pin where its own record has none", async () => {
    const ours = await knownOf({ by: "K" });
    const { trust } = ours;
    const unpinned = { ...ours, trust: { ...trust, pinned: undefined } };
    const joined = joinReleases(address, ours, unpinned, recorded(unpinned));
    expect(joined.value.trust.pinned).toEqual(trust.pinned);
    const other = joinReleases(address, unpinned, undefined, recorded(ours));
    expect(other.value.trust.pinned).toEqual(trust.pinned);
  });
});
