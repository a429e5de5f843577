import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { parseVersion } from "../../../src/address/version.ts";
import {
  completeLockFile,
  formatLockFile,
  type LockEntry,
} from "../../../src/commands/lock/dependency-lock-file-edit.ts";
import { parseDependencyLockFile } from "../../../src/commands/inputs/dependency-lock-file.ts";
import { canonical, widget, wild } from "../inputs/lock-files.ts";

const version = parseVersion("1.2.3");

function parse(text: string) {
  return parseDependencyLockFile("lock.hcl", text);
}

function complete(text: string, ...entries: readonly LockEntry[]): string {
  return completeLockFile(parse(text), entries);
}

function entry(name: string, ...hashes: readonly string[]): LockEntry {
  return { name, version, constraints: undefined, hashes };
}

describe("completing a lock file", () => {
  it("sorts hashes in as the clients do", () => {
    expect(
      complete(
        canonical,
        entry(widget, "zh:ccc", "zh:ddd", "h1:aaa=", "h1:c="),
      ),
    ).toBe(
      canonical
        .replace(
          '    "h1:bbb=",\n',
          '    "h1:aaa=",\n    "h1:bbb=",\n    "h1:c=",\n',
        )
        .replace('    "zh:ccc",\n', '    "zh:ccc",\n    "zh:ddd",\n'),
    );
  });

  it("keeps comments with what they are about", () => {
    const text = complete(wild, entry(widget, "h1:aaa=", "zh:bbb", "zh:ddd"));
    expect(text).toContain(`  hashes  = [ # all
    "h1:aaa=",
    # macOS
    "h1:bbb=", # mine
    "zh:bbb",
    /* the rest */ "zh:ccc", # last
    "zh:ddd",
    # end
  ]`);
  });

  it.each([
    ["[]", '["zh:a", "zh:c"]'],
    ['["zh:b"]', '["zh:a", "zh:b", "zh:c"]'],
    ['["zh:b",]', '["zh:a", "zh:b", "zh:c",]'],
    ['[ "zh:b" ]', '["zh:a",  "zh:b", "zh:c" ]'],
    ["[\n]", '[\n    "zh:a",\n    "zh:c",\n  ]'],
    ['[\n"zh:b"\n, "zh:bb"]', '[\n"zh:a",\n"zh:b"\n, "zh:bb", "zh:c"]'],
  ])("works with a list written as %j", (list, expected) => {
    const text = `provider "${widget}" {\n  version = "1.2.3"\n  hashes = ${list}\n}\n`;
    const completed = complete(text, entry(widget, "zh:a", "zh:c"));
    const hashes = parse(completed).locks[0]?.hashes;
    expect(hashes).toEqual([...new Set(hashes)].toSorted());
    expect(hashes).toEqual(expect.arrayContaining(["zh:a", "zh:c"]));
    if (!list.includes("\n")) expect(completed).toContain(expected);
  });

  it("adds a list to an entry without one", () => {
    const text = `provider "${widget}" {\n  version = "1.2.3"\n}\n`;
    expect(complete(text, entry(widget, "zh:a"))).toBe(
      `provider "${widget}" {\n  version = "1.2.3"\n  hashes = [\n    "zh:a",\n  ]\n}\n`,
    );
  });

  it("puts new entries where the clients have them", () => {
    const names = ["a.example/a/a", "registry.terraform.io/acme/x", "z.z/z/z"];
    const entries = names.map((name) => entry(name, "zh:a"));
    const known = {
      ...entry(widget, "h1:bbb=", "zh:ccc"),
      constraints: "~> 1.2",
    };
    expect(complete(canonical, ...entries)).toBe(
      formatLockFile("terraform", [...entries, known]),
    );
  });

  it("keeps carriage returns", () => {
    const text = complete(
      canonical.replaceAll("\n", "\r\n"),
      entry(widget, "zh:ddd"),
      entry("z.z/z/z", "zh:a"),
    );
    expect(text.replaceAll("\r\n", "")).not.toMatch(/[\r\n]/);
  });
});

const name = fc
  .tuple(
    fc.constantFrom("registry.terraform.io", "a.example", "z.example:8443"),
    fc.stringMatching(/^[a-z][a-z0-9-]{0,5}[a-z]$/),
    fc.stringMatching(/^[a-z][a-z0-9-]{0,5}[a-z]$/),
  )
  .map((parts) => parts.join("/"));
const hash = fc.oneof(
  fc.stringMatching(/^h1:[A-Za-z0-9+/]{5}=$/),
  fc.stringMatching(/^zh:[0-9a-f]{6}$/),
);
const hashes = fc.uniqueArray(hash, { minLength: 1, maxLength: 8 });
const entries = fc
  .uniqueArray(
    fc.record({
      name,
      version: fc.constantFrom("1.0.0", "2.1.0-rc1").map(parseVersion),
      constraints: fc.constantFrom(undefined, "1.0.0", ">= 1.0.0, < 3.0.0"),
      hashes,
    }),
    { selector: (one) => one.name, maxLength: 6 },
  )
  .filter((list) => list.length > 0);

/** Comments, blank lines and odd spaces in places where they change nothing. */
function disturb(text: string, seeds: readonly number[]): string {
  const noise = ["", "", "", " # note", "   ", "\n", "\n# own line\n", "\n\n"];
  return text
    .split("\n")
    .map((line, index) => {
      const seed = seeds[index % Math.max(seeds.length, 1)] ?? 0;
      const added = noise[seed % noise.length] ?? "";
      return line + (line === "" ? added.replace(/^ #/, "#") : added);
    })
    .join("\n");
}

describe("for any lock file", () => {
  it("parsing and writing again is the identity", () => {
    fc.assert(
      fc.property(entries, (list) => {
        const text = formatLockFile("tofu", list);
        const { locks, problems } = parse(text);
        expect(problems).toEqual([]);
        expect(formatLockFile("tofu", locks)).toBe(text);
        expect(completeLockFile(parse(text), list)).toBe(text);
      }),
    );
  });

  it("completing what clients wrote is what clients would write", () => {
    fc.assert(
      fc.property(entries, entries, (before, after) => {
        const known = new Map(before.map((one) => [one.name, one]));
        const merged = new Map(known);
        for (const one of after) {
          const old = known.get(one.name);
          const all = [...(old?.hashes ?? []), ...one.hashes];
          merged.set(one.name, { ...(old ?? one), hashes: all });
        }
        const text = formatLockFile("terraform", before);
        expect(completeLockFile(parse(text), after)).toBe(
          formatLockFile("terraform", [...merged.values()]),
        );
      }),
    );
  });

  it("completing only adds, whatever comments and spaces are there", () => {
    const seeds = fc.array(fc.nat(100), { minLength: 1, maxLength: 40 });
    const newline = fc.constantFrom("\n", "\r\n");
    fc.assert(
      fc.property(entries, entries, seeds, newline, (before, after, s, end) => {
        const text = disturb(formatLockFile("terraform", before), s).replaceAll(
          "\n",
          end,
        );
        const file = parse(text);
        expect(file.problems).toEqual([]);
        expect(completeLockFile(file, before)).toBe(text);
        const completed = completeLockFile(file, after);
        expect(isSubsequence(text, completed)).toBe(true);
        const again = parse(completed);
        expect(again.problems).toEqual([]);
        for (const one of [...before, ...after])
          expect(
            again.locks.find((lock) => lock.name === one.name)?.hashes,
          ).toEqual(expect.arrayContaining(one.hashes));
      }),
    );
  });

  it("no text at all makes it throw", () => {
    const piece = fc.constantFrom(
      ...'provider|{|}|[|]|=|"|\n|\r\n|#|/*|*/|//|version|hashes|,|\\|${|<<A| |é|\u0000'.split(
        "|",
      ),
    );
    fc.assert(
      fc.property(fc.array(piece, { maxLength: 40 }), (pieces) => {
        const text = pieces.join("");
        const file = parse(text);
        if (file.body !== undefined)
          expect(completeLockFile(file, [])).toBe(text);
      }),
      { numRuns: 500 },
    );
  });
});

/** By lines of the shorter text, each of which is found whole but for a comma that was added. */
function isSubsequence(shorter: string, longer: string): boolean {
  let at = 0;
  for (const character of shorter) {
    at = longer.indexOf(character, at) + 1;
    if (at === 0) return false;
  }
  return true;
}
