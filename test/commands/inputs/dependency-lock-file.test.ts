import { describe, expect, it } from "vitest";
import { parseLockFile } from "../../../src/commands/inputs/parser.ts";
import { canonical, widget, wild } from "./lock-files.ts";

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
