import { parseVersion } from "../../../src/address/version.ts";

export const now = new Date("2026-01-01T00:00:00Z");
export const later = new Date("2026-02-01T00:00:00Z");
export const future = new Date("2036-01-01T00:00:00Z");

/** Makes an origin's list of versions. */
export function answerOf(...versions: readonly string[]) {
  return {
    versions: versions.map((version) => ({
      version: parseVersion(version),
      protocols: [],
      platforms: undefined,
    })),
    warnings: [],
  };
}
