import { Readable } from "node:stream";
import { pipeline } from "node:stream/promises";
import { createGunzip } from "node:zlib";
import { extract } from "tar-stream";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { differingTars } from "./differing-tars.ts";
import { differingZips } from "./differing-zips.ts";
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

const casesOf = (tars: Readonly<Record<string, Buffer>>, zips: typeof tars) => [
  ...Object.entries(tars).map(
    ([what, bytes]) => ["tar.gz", what, bytes] as const,
  ),
  ...Object.entries(zips).map(([what, bytes]) => ["zip", what, bytes] as const),
];

describe("an archive that readers understand differently", () => {
  it.each(casesOf(differingTars, differingZips))(
    "is refused: %s with %s",
    async (format, _, bytes) => {
      await expect(readOurselves(format, bytes)).rejects.toThrow();
    },
  );

  it("would often be unpacked by Go, and by a library that reads what it can", async () => {
    const accepted = { go: 0, library: 0 };
    for (const [format, , bytes] of casesOf(differingTars, differingZips))
      if ((await go?.read(format, bytes))?.error === "") accepted.go++;
    for (const [what, bytes] of Object.entries(differingTars))
      if (what !== neverRead && (await isExtracted(bytes))) accepted.library++;
    if (hasGo) expect(accepted.go).toBeGreaterThan(60);
    expect(accepted.library).toBeGreaterThan(30);
  });
});

describe("an archive of the field", () => {
  it.each(casesOf(soundTars, soundZips))(
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

/** Of this tar-stream never finds the end. */
const neverRead = "a directory with content";

/** Whether tar-stream finds nothing wrong. */
async function isExtracted(bytes: Buffer): Promise<boolean> {
  const reader = extract();
  reader.on("entry", (_, content, next) => {
    content.on("end", next).resume();
  });
  return pipeline(Readable.from([bytes]), createGunzip(), reader).then(
    () => true,
    () => false,
  );
}
