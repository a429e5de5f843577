import { expect, it } from "vitest";
import { parseVersion } from "../../../src/address/version.ts";
import {
  mergeVersions,
  type VersionList,
} from "../../../src/mirror/versions/version-list.ts";
import {
  providerVersionNaming,
  VersionRecords,
} from "../../../src/mirror/versions/version-records.ts";
import { DiskRecords } from "../../../src/store/records/disk-records.ts";
import { address } from "../../scenes/believed-releases.ts";
import { makeLayout } from "../../store/stores.ts";

const { provider } = address;
const day = (number: number) => new Date(Date.UTC(2026, 0, number));
const listOf = (...versions: readonly string[]): VersionList =>
  mergeVersions(
    "acme/thing",
    undefined,
    {
      versions: versions.map((version) => ({
        version: parseVersion(version),
        protocols: [],
        platforms: undefined,
      })),
      warnings: [],
    },
    day(1),
  );
const [one, two, both] = [
  listOf("1.0.0"),
  listOf("2.0.0"),
  listOf("1.0.0", "2.0.0"),
];

it.each([
  ["is written where there is none", undefined, 1, undefined, two, 2, "2.0.0"],
  [
    "is written where what it continues is gone",
    undefined,
    1,
    one,
    two,
    2,
    "2.0.0",
  ],
  ["takes the place of the one it continues", one, 1, one, two, 2, "2.0.0"],
  [
    "is joined to what others wrote since, as what is listed now",
    one,
    1,
    undefined,
    two,
    2,
    "2.0.0, not 1.0.0",
  ],
  [
    "so, too, when both were confirmed at once",
    one,
    1,
    undefined,
    two,
    1,
    "2.0.0, not 1.0.0",
  ],
  [
    "is joined to a newer one as what was listed before",
    one,
    3,
    undefined,
    both,
    2,
    "1.0.0, not 2.0.0",
  ],
])("a list %s", async (_rule, before, then, known, list, now, expected) => {
  const disk = new DiskRecords(await makeLayout());
  const records = new VersionRecords(disk, providerVersionNaming);
  if (before !== undefined) {
    const kept = { value: before, confirmedAt: day(then) };
    await records.write(provider, kept, undefined);
  }
  const kept = { value: list, confirmedAt: day(now) };
  const written = await records.write(provider, kept, known);
  expect(await records.read(provider)).toEqual(written);
  expect(written.confirmedAt).toEqual(day(Math.max(now, before ? then : now)));
  const entries = [...written.value.versions.values()];
  const names = (listed: boolean) =>
    entries
      .filter((entry) => entry.listed === listed)
      .map(({ version }) => version)
      .join();
  const vanished = names(false) === "" ? "" : `, not ${names(false)}`;
  expect(`${names(true)}${vanished}`).toBe(expected);
});
