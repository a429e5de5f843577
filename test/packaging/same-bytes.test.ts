import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, it } from "vitest";
import { has, makeRelease, type Kind } from "./release.ts";

const canPack = has("dpkg-deb", "that a Debian package is the same again");
const kinds: readonly Kind[] = ["executable", "image", "npm"];

it.each(canPack ? [...kinds, "deb" as const] : kinds)(
  "%s is the same bytes when it is made again elsewhere, with its bill of materials and provenance",
  async (kind) => {
    const sums = [false, true].map(async (elsewhere) => {
      const { folder } = await makeRelease(kind, "SHA256SUMS", { elsewhere });
      return readFile(join(folder, "SHA256SUMS"), "utf8");
    });
    const [here, elsewhere] = await Promise.all(sums);
    expect(here).toMatch(/^[0-9a-f]{64} {2}provender[-_]\S+$/m);
    expect(elsewhere).toBe(here);
  },
  240_000,
);
