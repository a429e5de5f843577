import { describe, expect, it } from "vitest";
import { parseVersion } from "../../../src/address/version.ts";
import {
  formatLockFile,
  type LockEntry,
} from "../../../src/commands/inputs/dependency-lock-file.ts";
import { parseLockFile } from "../../../src/commands/inputs/parser.ts";
import fc from "../../seeded.ts";

const widget = "registry.terraform.io/acme/widget";

/** As both clients write it (depsfile, "SaveLocksToBytes"). */
const canonical = `# This file is maintained automatically by "terraform init".
# Manual edits may be lost in future updates.

provider "registry.terraform.io/acme/widget" {
  version     = "1.2.3"
  constraints = "~> 1.2"
  hashes = [
    "h1:bbb=",
    "zh:ccc",
  ]
}
`;

const wild = `// ours
/* two
   lines */
module "child" { # not for us
  list = [ { a = "}" }, "]" ]
  nested { x = 1 }
}
provider "${widget}" { # why
  # pinned by security
  version = "1.2.3" // until June
  hashes  = [ # all
    # macOS
    "h1:bbb=", # mine
    /* the rest */ "zh:ccc" # last
    # end
  ]
}

provider "registry.opentofu.org/acme/other" {
  version = "2.0.0-beta.1+build"
  hashes = ["zh:bbb"]
}`;

function parse(text: string) {
  return parseLockFile("lock.hcl", text);
}

const good = 'version = "1.0.0"\n';
const add = (line: string) => `${good}${line}`;
const unlike = /is not as clients write it: let "init" write it again/;

describe("a dependency lock file", () => {
  it("is read with its lines", async () => {
    const { locks, problems } = await parse(canonical);
    expect(problems).toEqual([]);
    expect(locks).toMatchObject([
      {
        name: widget,
        version: "1.2.3",
        constraints: "~> 1.2",
        hashes: ["h1:bbb=", "zh:ccc"],
        where: "lock.hcl:4",
      },
    ]);
  });

  it.each([
    ["line feeds", wild],
    ["carriage returns", wild.replaceAll("\n", "\r\n")],
    ["a byte order mark", `\uFEFF${wild}`],
  ])(
    "is read with comments everywhere, blocks for modules and %s",
    async (_, text) => {
      const { locks, problems } = await parse(text);
      expect(problems).toEqual([]);
      expect(locks.map(({ name, hashes }) => [name, hashes])).toEqual([
        ["registry.opentofu.org/acme/other", ["zh:bbb"]],
        [widget, ["h1:bbb=", "zh:ccc"]],
      ]);
    },
  );

  it.each([
    ['provider "a/b/c" {\n  version = "1.0.0"\n', /^lock\.hcl:\d: /],
    ["provider {\n  version =\n}\n", /^lock\.hcl:2: /],
    ['provider "a\n', /^lock\.hcl:1: /],
    ["}\n", /^lock\.hcl:1: /],
    ["a = [\n\n", /^lock\.hcl:\d: /],
    ["a = 1 }\n", /^lock\.hcl:1: /],
    ["<<<<<<< HEAD\n", /^lock\.hcl:1: /],
    ["a = [".repeat(600), /^lock\.hcl:1: Missing item separator/],
  ])("is refused as a whole with the line: %j", async (text, problem) => {
    const file = await parse(text);
    expect(file.locks).toEqual([]);
    expect(file.problems.map(({ message }) => message)).toEqual([
      expect.stringMatching(problem),
    ]);
  });

  it.each([
    ["acme/widget", good, unlike],
    ["terraform.io/builtin/terraform", good, unlike],
    ["registry.terraform.io/-/aws", good, /not a namespace/],
    ["Registry.terraform.io/a/b", good, unlike],
    ["a.example:443/acme/net", good, unlike],
    ["xn--bcher-kva.test/a/b", good, unlike],
    ["B\u00fccher.test/a/b", good, unlike],
    ...[
      ...["", "version = null", "version = 1", 'version = "v1.0"'],
      ...['version = "1.0"', 'version = "${"${x}"}"'],
      ...["= 1.0.0", ">= 1.0, < 2.0", "~>1.0", "~> 1", "v1.0.0"].map(
        (text) => `${good}constraints = "${text}"`,
      ),
      ...["constraints = null", 'hashes = "zh:a"', "hashes = []"].map(add),
      ...["hashes = null", 'hashes = ["h1:a=", "aaaa"]'].map(add),
      ...['hashes = [ f("a") ]', "unknown = foo(1) + bar"].map(add),
      ...["nested {\n}", `}\nprovider "${widget}" {\n${good}`].map(add),
    ].map((body) => [widget, body, unlike] as const),
  ])("names an entry that no client could use: %s %s", async (...row) => {
    const [label, body, problem] = row;
    const bad = `provider "${label}" {\n${body}\n}\n`;
    const other = canonical.replaceAll("acme/widget", "acme/good");
    const { locks, problems } = await parse(`${bad}${other}`);
    expect(locks.map(({ name }) => name)).toEqual([
      "registry.terraform.io/acme/good",
    ]);
    expect(problems.map(({ message }) => message)).toEqual([
      expect.stringMatching(problem),
    ]);
    expect(problems[0]?.message).toMatch(/^lock\.hcl:1: /);
  });

  it.each([
    ['constraints = ""', undefined],
    [
      'constraints = ">= 0.9.0, != 0.9.5, < 2.0.0"',
      ">= 0.9.0, != 0.9.5, < 2.0.0",
    ],
    ['constraints = "~> 1.0.0, ~> 1.0"', "~> 1.0.0, ~> 1.0"],
    ['constraints = "1.0.0+build"', "1.0.0+build"],
    ['hashes = ["h9:a", "h\\u0031:b=", "h9:a"]', undefined],
  ])("reads what clients read: %s", async (line, constraints) => {
    const body = `provider "${widget}" {\n${add(line)}\n}\n`;
    const { locks, problems } = await parse(body);
    expect(problems).toEqual([]);
    expect(locks).toMatchObject([{ version: "1.0.0", constraints }]);
  });

  it.each([
    `${canonical}a = 1\n`,
    `${canonical}\nthing "a" {\n}\n`,
    ...["module = 1\n", "provider = 1\n", "provider {\n}\n"],
  ])("has nothing but providers and blocks for modules: %j", async (text) => {
    const { problems } = await parse(text);
    expect(problems.map(({ message }) => message)).toEqual([
      'lock.hcl: something in it besides its providers is not as clients write it: let "init" write it again.',
    ]);
  });

  it("names registries in their own script, as clients write them", async () => {
    const { locks, problems } = await parse(
      'provider "b\u00fccher.test:8443/acme/net" {\n  version = "1.0.0"\n}\n',
    );
    expect(problems).toEqual([]);
    expect(locks).toMatchObject([{ name: "xn--bcher-kva.test:8443/acme/net" }]);
  });
});

/** The file as it is written with these hashes in each of its entries, too. */
async function complete(text: string, ...added: readonly string[]) {
  const { locks, problems } = await parse(text);
  expect(problems).toEqual([]);
  return formatLockFile(
    "terraform",
    locks.map((lock) => ({ ...lock, hashes: [...lock.hashes, ...added] })),
  );
}

describe("completing a lock file", () => {
  it("sorts hashes in as the clients do", async () => {
    const added = ["zh:ccc", "zh:ddd", "h1:aaa=", "h1:c="];
    expect(await complete(canonical, ...added)).toBe(
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
    expect(await complete(before, "zh:ddd")).toBe(
      before.replace('    "zh:ccc",\n', '    "zh:ccc",\n    "zh:ddd",\n'),
    );
  });

  it("adds a list to an entry without one", async () => {
    const text = `provider "${widget}" {\n  version = "1.2.3"\n}\n`;
    expect(await complete(text, "zh:a")).toContain(
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
const entries: fc.Arbitrary<LockEntry[]> = fc
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
