import { describe, expect, it } from "vitest";
import { parsePlatform, type Platform } from "../../../src/address/platform.ts";
import {
  confirmRelease,
  type ReleaseOrigin,
} from "../../../src/mirror/releases/fetch.ts";
import type { OriginPackage } from "../../../src/origin/registries/registry-answers.ts";
import { believe } from "../../scenes/believed-releases.ts";
import { h1Of } from "../../scenes/release-sketches.ts";

const known = await believe({
  archives: { linux_amd64: "a", darwin_arm64: "b" },
  signedBy: "K",
  keys: ["KEYS"],
});
const linux = known.packages.get("linux_amd64");
const darwin = known.packages.get("darwin_arm64");
if (linux === undefined || darwin === undefined) throw new Error("no packages");
const place = new URL("https://files.example.com/new.zip");
const label = {
  id: "new",
  trustSignature: undefined,
  source: undefined,
  sourceUrl: undefined,
};
const published = {
  kind: "published",
  url: place,
  signatureUrl: place,
} as const;
/** What the registry says now of the package for Linux: the same. */
const same: OriginPackage = {
  filename: linux.filename,
  downloadUrl: place,
  shasum: linux.sha256,
  places: new Map([[linux.sha256, place]]),
  checksums: published,
  signingKeys: ["KEYS"],
  keyLabels: [label],
  protocols: [],
  reported: new Map(),
};
const platforms = ["linux_amd64", "darwin_arm64"].map(parsePlatform);
const confirm = (
  found: Partial<OriginPackage>,
  offered: readonly Platform[] | "none" = platforms,
  profile: "terraform" | "opentofu" = "terraform",
) =>
  confirmRelease(
    ...[known, { ...same, ...found }],
    offered === "none" ? undefined : offered,
    { policy: { profile } } as ReleaseOrigin,
  );

describe("asking for a known release", () => {
  it.each<readonly [string, Parameters<typeof confirm>]>([
    ["says the same of it", [{}]],
    [
      "says the same of another of its platforms",
      [{ filename: darwin.filename, shasum: darwin.sha256 }],
    ],
    ["names fewer platforms", [{}, platforms.slice(1)]],
    ["names no platforms", [{}, "none"]],
    [
      "brings the same document of a network mirror",
      [{ checksums: { kind: "reported", document: known.proof.document } }],
    ],
  ])("has nothing to look at when its origin %s", (_, asked) => {
    const confirmed = confirm(...asked);
    expect(confirmed?.change).toEqual({ kind: "none" });
    const { release } = confirmed ?? {};
    expect(release?.checksums).toBe(known.checksums);
    expect(release?.proof).toBe(known.proof);
    expect(release?.firstSeen).toBe(known.firstSeen);
    expect(release?.packages).toBe(known.packages);
  });

  it.each<readonly [string, Parameters<typeof confirm>]>([
    ["lists another key", [{ signingKeys: ["OTHER"] }]],
    ["lists one key more", [{ signingKeys: ["KEYS", "OTHER"] }]],
    ["lists no key any more", [{ signingKeys: [] }]],
    ["names another digest", [{ shasum: darwin.sha256 }]],
    ["names no digest", [{ shasum: undefined }]],
    ["names another file", [{ filename: "other.zip" }]],
    [
      "names a platform that it did not have",
      [{}, [...platforms, parsePlatform("windows_amd64")]],
    ],
    [
      "brings another document of a network mirror",
      [{ checksums: { kind: "reported", document: Buffer.from("other") } }],
    ],
    ["is to be judged as OpenTofu does it now", [{}, platforms, "opentofu"]],
  ])("has something to look at when its origin %s", (_, asked) => {
    expect(confirm(...asked)).toBeUndefined();
  });

  it("takes over where archives are now, of those that were signed alone, and the labels of keys", () => {
    const elsewhere = new URL("https://files.example.com/unsigned.zip");
    const unsigned = "f".repeat(64) as typeof linux.sha256;
    const places = new Map([...same.places, [unsigned, elsewhere]]);
    const { release } = confirm({ places }) ?? {};
    expect(release?.places).toEqual(new Map([["linux_amd64", place.href]]));
    expect(release?.keyLabels).toEqual([label]);
  });

  it("keeps the first word on hashes that nobody signs, and notes another one", () => {
    const report = (letter: string) =>
      new Map([
        ["linux_amd64", { packageHashes: [h1Of(letter)], size: undefined }],
      ]);
    const told = { ...known, reported: report("x") };
    const origin = { policy: { profile: "terraform" } } as ReleaseOrigin;
    const found = { ...same, reported: report("y") };
    const after = confirmRelease(told, found, platforms, origin);
    expect(after?.release.reported.get("linux_amd64")).toMatchObject({
      packageHashes: [h1Of("x")],
      offered: [h1Of("y")],
    });
  });
});
