import { expect, it } from "vitest";
import { ReleaseRecords } from "../../../src/mirror/releases/records.ts";
import type { Release } from "../../../src/mirror/releases/release.ts";
import { DiskRecords } from "../../../src/store/records/disk-records.ts";
import { address, believe } from "../../scenes/believed-releases.ts";
import { judgeFor } from "../../scenes/release-sketches.ts";
import { makeLayout } from "../../store/stores.ts";

const records = new ReleaseRecords(new DiskRecords(await makeLayout()), {
  judge: judgeFor("K"),
  policyOf: () => ({ signatures: "required", profile: "terraform" }),
  clock: { now: () => new Date(0), monotonic: () => 0 },
});
const { packages, proof, ...release } = await believe({ signedBy: "K" });

/** What a release weighs with so much of what it has any number of. */
function weigh({
  document = 0,
  keys = [] as readonly string[],
  ...parts
}: Partial<Pick<Release, "packages" | "places">> & {
  readonly document?: number;
  readonly keys?: readonly string[];
}): number {
  const bare = { ...release, packages: new Map() };
  const own = { ...proof, keys, document: new Uint8Array(document) };
  return records.weigh({ ...bare, ...parts, proof: own });
}

it("weighs a few KiB where it is bare", () => {
  expect(weigh({})).toBeGreaterThan(2_048);
  expect(weigh({})).toBeLessThan(8_192);
});

it.each<[string, Parameters<typeof weigh>[0], number, number]>([
  ["a platform", { packages }, 256, 1_024],
  ["its document, and what is read from it", { document: 1_000 }, 2e3, 8e3],
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
