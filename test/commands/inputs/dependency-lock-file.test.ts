import { describe, expect, it } from "vitest";
import { parseDependencyLockFile } from "../../../src/commands/inputs/dependency-lock-file.ts";
import { canonical, widget, wild } from "./lock-files.ts";

function parse(text: string) {
  return parseDependencyLockFile("lock.hcl", text);
}

function problemsOf(text: string): readonly string[] {
  return parse(text).problems.map(({ message }) => message);
}

describe("a dependency lock file", () => {
  it("is read with its lines", () => {
    const { locks, problems } = parse(canonical);
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
  ])("is read with comments everywhere, foreign entries and %s", (_, text) => {
    const { locks, problems } = parse(text);
    expect(problems).toEqual([]);
    expect(locks.map(({ name, hashes }) => [name, hashes])).toEqual([
      [widget, ["h1:bbb=", "zh:ccc"]],
      ["registry.opentofu.org/acme/other", ["zh:bbb"]],
    ]);
  });

  it.each(["", "\n", "# nothing\n", "# nothing", "\uFEFF"])(
    "may hold nothing: %j",
    (text) => {
      expect(parse(text)).toMatchObject({ locks: [], problems: [] });
    },
  );

  it.each([
    ['provider "a/b/c" {\n  version = "1.0.0"\n', /^lock\.hcl:3: expected "}"/],
    ["provider {\n  version =\n}\n", /^lock\.hcl:2: expected a value/],
    ['provider "a\n', /^lock\.hcl:1: .*not the syntax/],
    ["a = <<EOT\nx\nEOT\n", /^lock\.hcl:1: .*not the syntax/],
    ["}\n", /^lock\.hcl:1: expected a provider block, got "}"/],
    ["a = [\n\n", /^lock\.hcl:3: expected a bracket, got end/],
    ['\n\nprovider "x" "y"\n', /^lock\.hcl:3: expected "=" or "{"/],
    ["{ ".repeat(10), /^lock\.hcl:1: expected a block/],
    ["a { ".repeat(100), /^lock\.hcl:1: expected/],
    ["a = 1 }\n", /^lock\.hcl:1: expected/],
    ["<<<<<<< HEAD\n", /^lock\.hcl:1: .*not the syntax/],
  ])("is refused as a whole with the line: %j", (text, problem) => {
    const file = parse(text);
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
      `"${widget}"`,
      'version = "1.0.0"\nhashes = [ f("a") ]',
      /"hashes" is not a list/,
    ],
  ])(
    "names an entry that no client could use: %s %s",
    (label, body, problem) => {
      const bad = `provider ${label} {\n${body}\n}\n`;
      const other = canonical.replaceAll("acme/widget", "acme/good");
      const { locks, problems } = parse(`${bad}${other}`);
      expect(locks.map(({ name }) => name)).toEqual([
        "registry.terraform.io/acme/good",
      ]);
      expect(problems.map(({ message }) => message)).toEqual([
        expect.stringMatching(problem),
      ]);
      expect(problems[0]?.message).toMatch(/^lock\.hcl:1: /);
    },
  );

  it("names the second of two entries of one provider", () => {
    expect(problemsOf(canonical + canonical)).toEqual([
      `lock.hcl:15: ${widget} is locked already at lock.hcl:4: remove one of the two.`,
    ]);
  });
});
