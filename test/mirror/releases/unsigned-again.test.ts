import { describe, expect, it } from "vitest";
import { SignatureRefused } from "../../../src/errors/index.ts";
import { begin, reconcile } from "../../../src/mirror/releases/continuity.ts";
import type { Release } from "../../../src/mirror/releases/release.ts";
import { address, believe } from "../../scenes/believed-releases.ts";
import { judgeFor } from "../../scenes/release-sketches.ts";

const fallen = new SignatureRefused("it", "revoked", "its key was revoked");
const standing = {
  isApproved: () => true,
  fallen,
  signedAnewBy: undefined,
};
const signed = await believe({ signedBy: "K" });
const excused = await believe({});
const off: Release = {
  ...excused,
  proof: { ...excused.proof, exemption: "signatures-off" },
};

describe("a release that fell", () => {
  it("begins anew only with a signature, or where signatures are off", () => {
    expect(() => begin(excused, standing, undefined)).toThrow(fallen);
    for (const release of [signed, off])
      expect(begin(release, standing, undefined)).toEqual({
        release,
        change: { kind: "none" },
      });
  });

  it("is signed anew by whoever did not sign it first", () => {
    const unfallen = { ...standing, fallen: undefined };
    const changeAfter = (release: Release, before: string) =>
      begin(release, unfallen, before).change;
    const anew = { kind: "signed-anew", before: "L" };
    expect(changeAfter(signed, "K")).toEqual({ kind: "none" });
    expect(changeAfter(signed, "L")).toEqual(anew);
    expect(changeAfter(excused, "L")).toEqual(anew);
  });

  it("gives way to the same digests that nobody signed only where signatures are off", async () => {
    const context = {
      judge: judgeFor("K"),
      now: new Date("2026-06-01T00:00:00Z"),
      standing,
      first: new Map(),
    };
    const offer = (release: Release) =>
      reconcile(address, signed, { release }, undefined, context);
    expect(await offer(excused)).toEqual({
      release: signed,
      change: { kind: "none" },
      fallen,
    });
    const { change, fallen: still } = await offer(off);
    expect([change, still]).toEqual([
      { kind: "signed-anew", before: "K" },
      undefined,
    ]);
  });

  it("may begin unsigned where it did not fall", () => {
    const unfallen = { ...standing, fallen: undefined };
    expect(begin(excused, unfallen, undefined).release).toBe(excused);
  });
});
