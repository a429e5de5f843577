import fc from "../../seeded.ts";
import { describe, expect, it } from "vitest";
import { parseVersion } from "../../../src/address/version.ts";
import { parseLockFile } from "../../../src/commands/inputs/parser.ts";
import {
  formatLockFile,
  type LockEntry,
} from "../../../src/commands/inputs/dependency-lock-file.ts";
import { canonical, widget } from "../inputs/lock-files.ts";

const version = parseVersion("1.2.3");

function entry(name: string, ...hashes: readonly string[]): LockEntry {
  return { name, version, constraints: undefined, hashes };
}

async function complete(
  text: string,
  ...added: readonly LockEntry[]
): Promise<string> {
  const { locks, problems } = await parseLockFile("lock.hcl", text);
  expect(problems).toEqual([]);
  const entries = locks.map((lock) => {
    const more = added.filter((one) => one.name === lock.name);
    const hashes = [...lock.hashes, ...more.flatMap((one) => one.hashes)];
    return { ...lock, hashes };
  });
  return formatLockFile("terraform", entries);
}

describe("completing a lock file", () => {
  it("sorts hashes in as the clients do", async () => {
    const added = entry(widget, "zh:ccc", "zh:ddd", "h1:aaa=", "h1:c=");
    expect(await complete(canonical, added)).toBe(
      canonical
        .replace(
          '    "h1:bbb=",\n',
          '    "h1:aaa=",\n    "h1:bbb=",\n    "h1:c=",\n',
        )
        .replace('    "zh:ccc",\n', '    "zh:ccc",\n    "zh:ddd",\n'),
    );
  });

  it("keeps a registry's name in its own script", async () => {
    const before = canonical.replaceAll(
      "registry.terraform.io",
      "b\u00fccher.test",
    );
    const added = entry("xn--bcher-kva.test/acme/widget", "zh:ddd");
    expect(await complete(before, added)).toBe(
      before.replace('    "zh:ccc",\n', '    "zh:ccc",\n    "zh:ddd",\n'),
    );
  });

  it("adds a list to an entry without one", async () => {
    const text = `provider "${widget}" {\n  version = "1.2.3"\n}\n`;
    expect(await complete(text, entry(widget, "zh:a"))).toContain(
      `\nprovider "${widget}" {\n  version = "1.2.3"\n  hashes = [\n    "zh:a",\n  ]\n}\n`,
    );
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

it("parsing what was written and writing it again is the identity", async () => {
  await fc.assert(
    fc.asyncProperty(entries, async (list) => {
      const text = formatLockFile("terraform", list);
      expect(await complete(text)).toBe(text);
    }),
  );
});
