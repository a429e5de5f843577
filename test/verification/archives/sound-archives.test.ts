import { expect, it } from "vitest";
import { readOurselves } from "./own-reading.ts";
import { soundTars } from "./sound-tars.ts";

it.each(Object.entries(soundTars))(
  "a tar as common writers make it is accepted: %s",
  async (_, bytes) => {
    expect(await readOurselves("tar.gz", bytes)).not.toEqual([]);
  },
);
