import { expect, it } from "vitest";
import { readOurselves } from "./own-reading.ts";
import { soundTars } from "./sound-tars.ts";
import { soundZips } from "./sound-zips.ts";

const cases = [
  ...Object.entries(soundTars).map(
    ([what, bytes]) => ["tar.gz", what, bytes] as const,
  ),
  ...Object.entries(soundZips).map(
    ([what, bytes]) => ["zip", what, bytes] as const,
  ),
];

it.each(cases)(
  "an archive of the field is accepted: %s with %s",
  async (format, _, bytes) => {
    expect(await readOurselves(format, bytes)).not.toEqual([]);
  },
);
