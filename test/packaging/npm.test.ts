import { chmodSync, mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";
import { packAgain } from "../../packaging/npm.ts";
import { scratch } from "../running-mirror.ts";

/** A package that npm made of a folder whose files have this mode. */
async function packWith(mode: number): Promise<Buffer> {
  const folder = scratch("npm");
  mkdirSync(join(folder, "package"));
  for (const name of ["README.md", "main.js"]) {
    writeFileSync(join(folder, "package", name), "");
    chmodSync(join(folder, "package", name), mode);
  }
  return packAgain(folder, { epoch: 0 });
}

it("makes the same package for npm of files that others may not read", async () => {
  const own = await packWith(0o600);
  expect(own.equals(await packWith(0o664))).toBe(true);
});
