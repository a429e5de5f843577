import { existsSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";

const root = join(import.meta.dirname, "..");
const read = (path: string) => readFileSync(join(root, path), "utf8");
const text = read("docs/trust.md");

/** `file` and `tests` of each row that is about one file. */
const rows = [
  ...text.matchAll(/^\| +`(src\/[^`]+\.ts)` +\|.*\|([^|]+)\|$/gm),
].map(([, file = "", last = ""]) => ({
  file,
  tests: [...last.matchAll(/`([^`]+)`/g)].map(([, test = ""]) => test),
}));
const files = [...text.matchAll(/`((?:src|test)\/[^`]+)`/g)].map(
  ([, path = ""]) => path,
);

describe("what a security engineer reads", () => {
  it("is there, file by file", () => {
    expect(files.filter((path) => !existsSync(join(root, path)))).toEqual([]);
  });

  it("is at most 4000 lines of code, each file once, in as many files as it says", () => {
    const names = rows.map(({ file }) => file);
    expect(new Set(names).size).toBe(names.length);
    expect(text).toContain(`${names.length} files, at most 4,000 lines`);
    const lines = names.map((name) => read(name).split("\n").length - 1);
    expect(lines.reduce((sum, count) => sum + count, 0)).toBeLessThanOrEqual(
      4_000,
    );
  });

  it("names with every file a test of it", () => {
    for (const { file, tests } of rows) {
      expect(tests, file).not.toEqual([]);
      for (const test of tests) expect(test).toMatch(/^test\/.*\.test\.ts$/);
    }
  });

  it("says truly that one file makes digests trusted: no other casts to them", () => {
    const sources = readdirSync(join(root, "src"), { recursive: true });
    const casting = sources.filter(
      (path) =>
        typeof path === "string" &&
        path.endsWith(".ts") &&
        /\bas\s+(?:readonly\s+)?(?:\w+<[^;]*)?(?:TrustedSha256|SignedChecksums)\b/.test(
          read(join("src", path)),
        ),
    );
    expect(casting).toEqual([join("verification", "signed-checksums.ts")]);
  });

  it("is linked from the README", () => {
    expect(read("README.md")).toContain("](docs/trust.md)");
  });
});
