import { expect, it } from "vitest";
import { ReleaseRecords } from "../../../src/mirror/releases/records.ts";
import type { KnownRelease } from "../../../src/mirror/releases/known-release.ts";
import { DiskRecords } from "../../../src/store/records/disk-records.ts";
import { address } from "../../scenes/believed-releases.ts";
import { judgeFor, knownOf } from "../../scenes/release-sketches.ts";
import { content as contentOf } from "../../trust/releases.ts";
import { makeLayout } from "../../store/stores.ts";

const records = new ReleaseRecords(new DiskRecords(await makeLayout()), {
  judge: judgeFor("K"),
  policyOf: () => ({ signatures: "required", profile: "terraform" }),
  clock: { now: () => new Date(0), monotonic: () => 0 },
});
const { trust, ...known } = await knownOf({ by: "K", content: "" });
const [bare] = trust.evidence;

/** Weighs a release with lists and texts of these lengths. */
function weigh({
  document = 0,
  content = "",
  copies = 1,
  ...parts
}: Partial<Pick<KnownRelease, "keys" | "places">> & {
  readonly document?: number;
  readonly content?: string;
  readonly copies?: number;
}): number {
  if (bare === undefined) throw new Error("it has no evidence");
  const proof = { ...bare.proof, document: new Uint8Array(document) };
  const named = contentOf(content);
  const evidence = Array.from({ length: copies }, () => ({
    ...{ ...bare, proof, content: named },
  }));
  return records.weigh({ ...known, ...parts, trust: { ...trust, evidence } });
}

it("weighs a few KiB where it is bare", () => {
  expect(weigh({})).toBeGreaterThan(2_048);
  expect(weigh({})).toBeLessThan(8_192);
});

it.each<[string, Parameters<typeof weigh>[0], number, number]>([
  ["a platform", { content: "linux=a" }, 256, 1_024],
  ["its document, and what is read from it", { document: 1_000 }, 2e3, 8e3],
  [
    "a piece of evidence more",
    { document: 1_000, content: "linux=a", copies: 2 },
    5e3,
    2e4,
  ],
  ["keys of 30 letters", { keys: ["K".repeat(10), "L".repeat(20)] }, 30, 30],
  [
    "places of 50 letters",
    {
      places: new Map([
        ["linux_amd64", "x".repeat(20)],
        ["darwin_arm64", "x".repeat(30)],
      ]),
    },
    50,
    50,
  ],
])("weighs more by %s", (_, more, least, most) => {
  const grown = weigh(more) - weigh({});
  expect(grown).toBeGreaterThanOrEqual(least);
  expect(grown).toBeLessThanOrEqual(most);
});

it("is named as errors and logs name it", () => {
  const name = "registry.terraform.io/acme/thing 1.0.0";
  expect(records.format(address)).toBe(name);
});
