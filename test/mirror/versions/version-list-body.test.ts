import { expect, it } from "vitest";
import { parsePlatform } from "../../../src/address/platform.ts";
import { parseVersion } from "../../../src/address/version.ts";
import type { VersionList } from "../../../src/mirror/versions/version-list.ts";
import {
  readVersionListBody,
  writeVersionListBody,
} from "../../../src/mirror/versions/version-records.ts";

const moment = "2026-01-01T00:00:00.000Z";
const platforms = ["linux_amd64", "darwin_arm64"];

function listOf(
  ...entries: readonly (readonly string[] | undefined)[]
): VersionList {
  const versions = entries.map((names, n) => ({
    version: parseVersion(`1.${n}.0`),
    protocols: ["5.0"],
    platforms: names?.map(parsePlatform),
    appeared: n === 0 ? undefined : new Date(moment),
    listed: n !== 1,
  }));
  return {
    firstContact: new Date(moment),
    warnings: ["old"],
    versions: new Map(versions.map((entry) => [entry.version, entry])),
  };
}

it("is read back as it was written", () => {
  const value = listOf(platforms, undefined, [], platforms, ["windows_386"]);
  const kept = { value, confirmedAt: new Date(moment) };
  const written = writeVersionListBody(kept);
  expect(written.platformLists).toEqual([platforms, [], ["windows_386"]]);
  const body: unknown = JSON.parse(JSON.stringify(written));
  expect(readVersionListBody(body)).toEqual(kept);
});
