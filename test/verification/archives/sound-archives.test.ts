import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { GoReader, hasGo } from "./go-reader.ts";
import { readOurselves } from "./own-reading.ts";
import { soundTars } from "./sound-tars.ts";
import { soundZips } from "./sound-zips.ts";

let go: GoReader | undefined;

beforeAll(() => {
  go = hasGo ? new GoReader() : undefined;
}, 120_000);

afterAll(() => go?.stop());

if (!hasGo)
  it.skip("is read as Go reads it: go is not on PATH", () => undefined);

const cases = [
  ...Object.entries(soundTars).map(
    ([what, bytes]) => ["tar.gz", what, bytes] as const,
  ),
  ...Object.entries(soundZips).map(
    ([what, bytes]) => ["zip", what, bytes] as const,
  ),
];

describe("an archive of the field", () => {
  it.each(cases)(
    "is accepted, and read as Go reads it: %s with %s",
    async (format, _, bytes) => {
      const ours = await readOurselves(format, bytes);
      expect(ours.members.length).toBeGreaterThan(0);
      if (go === undefined) return;
      const { members, error } = await go.read(format, bytes);
      expect({ members, error }).toEqual({ ...ours, error: "" });
    },
  );
});
