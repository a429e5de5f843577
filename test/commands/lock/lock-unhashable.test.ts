import { readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { runHere } from "../../running-here.ts";
import { makeDirectory } from "../storage.ts";
import { startWorld } from "../../scenes/world.ts";

/** Entries for which there is no h1 that all clients would agree on, and the reason. */
const kinds: Readonly<Record<string, [readonly string[], RegExp]>> = {
  folder: [["docs/", "docs/a.md"], /an entry for a directory/],
  newline: [["a\nb"], /a newline in its name/],
  twice: [["a", "a"], /two entries have one name/],
  many: [Array.from({ length: 4200 }, (_, at) => `lib/${at}.py`), /4,?096/],
};

const { registry, mirror } = await startWorld();
for (const [type, [beside]] of Object.entries(kinds))
  await registry.publish({ type, version: "1.0.0", beside });

describe("lock", () => {
  it.each(Object.entries(kinds))(
    "names an archive without h1, and calls no file complete: %s",
    async (type, [, reason]) => {
      const text = `provider "registry.terraform.io/acme/${type}" {\n  version = "1.0.0"\n}\n`;
      const directory = makeDirectory({ ".terraform.lock.hcl": text });
      const from = ["--mirror", mirror.url, "--ca", mirror.caFile];
      const args = [...from, "--platform", "linux_amd64", directory];
      for (const flags of [[], ["--check"]]) {
        const run = await runHere(["lock", ...flags, ...args]);
        expect(run.stderr).toMatch(/1\.0\.0 for linux_amd64 has no h1/);
        expect(run.stderr).toMatch(reason);
        expect(run.stderr).not.toContain("complete");
        expect(run.status).toBe(1);
      }
      const file = join(directory, ".terraform.lock.hcl");
      expect(readFileSync(file, "utf8")).toContain('"zh:');
      expect(readFileSync(file, "utf8")).not.toContain("h1:");
    },
  );
});
