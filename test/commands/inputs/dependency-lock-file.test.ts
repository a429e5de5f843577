import { describe, expect, it } from "vitest";
import { parseDependencyLockFile } from "../../../src/commands/inputs/parser.ts";
import { canonical, widget, wild } from "./lock-files.ts";

function parse(text: string) {
  return parseDependencyLockFile("lock.hcl", text);
}

async function problemsOf(text: string): Promise<readonly string[]> {
  const { problems } = await parse(text);
  return problems.map(({ message }) => message);
}

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

  it.each(["", "\n", "# nothing\n", "# nothing", "\uFEFF"])(
    "may hold nothing: %j",
    async (text) => {
      expect(await parse(text)).toMatchObject({ locks: [], problems: [] });
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
    ['"acme/widget"', 'version = "1.0.0"', /HOSTNAME\/NAMESPACE\/TYPE/],
    ['"registry.terraform.io/-/aws"', 'version = "1.0.0"', /Terraform 0\.12/],
    ['"Registry.terraform.io/a/b"', 'version = "1.0.0"', /not a hostname/],
    [`"${widget}"`, "", /widget has no version/],
    [`"${widget}"`, 'version = "v1.0"', /"v1\.0" is not a version/],
    [`"${widget}"`, "version = 1", /"version" is not a plain string/],
    [`"${widget}"`, 'version = "${"${x}"}"', /not a plain string/],
    [
      `"${widget}"`,
      'version = "1.0.0"\nhashes = "zh:a"',
      /"hashes" is not a list/,
    ],
    [
      '"a.example:443/acme/net"',
      'version = "1.0.0"',
      /write "a\.example\/acme/,
    ],
    [
      '"xn--bcher-kva.test/a/b"',
      'version = "1.0.0"',
      /write "b\u00fccher\.test/,
    ],
    ['"B\u00fccher.test/a/b"', 'version = "1.0.0"', /write "b\u00fccher\.test/],
    ['"terraform.io/builtin/terraform"', 'version = "1.0.0"', /is built in/],
    ['"a.example/b/terraform-provider-c"', 'version = "1.0.0"', /"terraform-"/],
    [`"${widget}"`, "version = null", /widget has no version/],
    [`"${widget}"`, 'version = "1.0"', /"1\.0" is not a version/],
    ...[
      ["= 1.0.0", "1.0.0"],
      [">= 1.0, < 2.0", ">= 1.0.0, < 2.0.0"],
      ["< 2.0.0, >= 1.0.0", ">= 1.0.0, < 2.0.0"],
      [">= 1.0.0, >= 1.0.0", ">= 1.0.0"],
      ["~>1.0", "~> 1.0"],
      ["~> 1", "~> 1.0"],
    ].map(([written = "", normal = ""]): [string, string, RegExp] => [
      `"${widget}"`,
      `version = "1.0.0"\nconstraints = "${written}"`,
      new RegExp(`refuse the constraints .* in this form: write "${normal}"`),
    ]),
    [
      `"${widget}"`,
      'version = "1.0.0"\nconstraints = "v1.0.0"',
      /"v1\.0\.0" is not a version constraint/,
    ],
    [
      `"${widget}"`,
      'version = "1.0.0"\nconstraints = null',
      /"constraints" is not a plain string/,
    ],
    [`"${widget}"`, 'version = "1.0.0"\nhashes = []', /"hashes" is empty/],
    [`"${widget}"`, 'version = "1.0.0"\nhashes = null', /not a list of plain/],
    [
      `"${widget}"`,
      'version = "1.0.0"\nhashes = ["h1:a=", "aaaa"]',
      /no scheme such as "h1:"/,
    ],
    [
      `"${widget}"`,
      'version = "1.0.0"\nunknown = foo(1) + bar',
      /an entry that clients do not know there/,
    ],
    [
      `"${widget}"`,
      'version = "1.0.0"\nnested {\n}',
      /an entry that clients do not know there/,
    ],
    [
      `"${widget}"`,
      'version = "1.0.0"\nhashes = [ f("a") ]',
      /"hashes" is not a list/,
    ],
  ])(
    "names an entry that no client could use: %s %s",
    async (label, body, problem) => {
      const bad = `provider ${label} {\n${body}\n}\n`;
      const other = canonical.replaceAll("acme/widget", "acme/good");
      const { locks, problems } = await parse(`${bad}${other}`);
      expect(locks.map(({ name }) => name)).toEqual([
        "registry.terraform.io/acme/good",
      ]);
      expect(problems.map(({ message }) => message)).toEqual([
        expect.stringMatching(problem),
      ]);
      expect(problems[0]?.message).toMatch(/^lock\.hcl:1: /);
    },
  );

  it.each([
    [`${canonical}a = 1\n`, /^lock\.hcl:12: .* clients do not know/],
    [`${canonical}\nthing "a" {\n}\n`, /^lock\.hcl:13: .* do not know/],
    ["module = 1\n", /^lock\.hcl:1: .* clients do not know/],
    ["provider = 1\n", /^lock\.hcl:1: .* clients do not know/],
  ])("has nothing but providers and blocks for modules: %j", async (...row) => {
    expect(await problemsOf(row[0])).toEqual([expect.stringMatching(row[1])]);
  });

  it.each(["", "1.0.0", "~> 1.0", ">= 1.0.0, < 2.0.0", "!= 1.5.0, 2.0.0-rc1"])(
    "has constraints in the form of clients: %j",
    async (text) => {
      const body = `version = "1.0.0"\nconstraints = "${text}"`;
      const file = await parse(`provider "${widget}" {\n${body}\n}\n`);
      expect(file.problems).toEqual([]);
      expect(file.locks).toMatchObject([{ constraints: text }]);
    },
  );

  it("names registries in their own script, as clients write them", async () => {
    const { locks, problems } = await parse(
      'provider "b\u00fccher.test:8443/acme/net" {\n  version = "1.0.0"\n}\n',
    );
    expect(problems).toEqual([]);
    expect(locks).toMatchObject([{ name: "xn--bcher-kva.test:8443/acme/net" }]);
  });

  it("names the second of two entries of one provider", async () => {
    expect(await problemsOf(canonical + canonical)).toEqual([
      `lock.hcl:15: ${widget} is locked already at lock.hcl:4: remove one of the two.`,
    ]);
  });
});
