import { existsSync, globSync, readdirSync, readFileSync } from "node:fs";
import { dirname, join, normalize } from "node:path";
import { describe, expect, it } from "vitest";

const root = join(import.meta.dirname, "..");
const read = (path: string) => readFileSync(join(root, path), "utf8");
const text = read("docs/trust.md");

/** Files and tests of each row that is about one file. */
const rows = [
  ...text.matchAll(/^\| +`(src\/[^`]+\.ts)` +\|.*\|([^|]+)\|$/gm),
].map(([, file = "", last = ""]) => ({
  file,
  tests: [...last.matchAll(/`([^`]+)`/g)].map(([, test = ""]) => test),
}));
const files = [...text.matchAll(/`((?:src|test)\/[^`]+)`/g)].map(
  ([, path = ""]) => path,
);

/** Everything that runs when these files do; the texts of errors decide nothing. */
function closureOf(start: readonly string[]): readonly string[] {
  const found = new Set(start);
  for (const path of found)
    for (const [, names = "", target = ""] of read(path).matchAll(
      /^import (?!type)([^;]*?) from "(\.[^"]+)"/gms,
    )) {
      const isTyped = /^\{[^}]*\}$/.test(names.replaceAll("\n", " "));
      const imported = names.replace(/[{}]/g, "").split(",");
      const isTypes =
        isTyped && imported.every((name) => /^\s*(?:type .*)?$/s.test(name));
      const next = normalize(join(dirname(path), target));
      if (!isTypes && !next.startsWith("src/errors/")) found.add(next);
    }
  return [...found];
}

const core = globSync("src/trust/*.ts", { cwd: root });
const signature = [
  "src/verification/signed-checksums.ts",
  "src/verification/signature-worker.ts",
];

describe("the page on trust", () => {
  it("names files that are there, each once, with tests of it that are there", () => {
    expect(files.filter((path) => !existsSync(join(root, path)))).toEqual([]);
    const names = rows.map(({ file }) => file);
    expect(new Set(names).size).toBe(names.length);
    for (const { file, tests } of rows) {
      expect(tests, file).not.toEqual([]);
      for (const test of tests) expect(test).toMatch(/^test\/.*\.test\.ts$/);
    }
  });

  it("has every file of the core and of the decision on signatures, with all that they import", () => {
    const named = new Set(rows.map(({ file }) => file));
    const needed = closureOf([...core, ...signature]);
    expect(needed.length).toBeGreaterThan(15);
    expect(needed.filter((path) => !named.has(path))).toEqual([]);
  });

  it("has a core of at most 1,720 lines, with all that it imports", () => {
    const lines = closureOf(core).map((path) => read(path).split("\n").length);
    expect(lines.reduce((sum, count) => sum + count, 0)).toBeLessThan(1_720);
    expect(text).toContain("at most 1,720 lines");
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
});
