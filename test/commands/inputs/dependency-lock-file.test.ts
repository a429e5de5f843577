import { describe, expect, it } from "vitest";
import {
  formatLockFile,
  parseLockFile,
} from "../../../src/commands/inputs/dependency-lock-file.ts";

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
  nested { x = "}" }
}
provider "${widget}" { # why
  version = "1.2.3" // until June
  hashes  = [ # all
    "h1:bbb=", # mine
    /* the rest */ "zh:ccc" # last
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
  it("is read with comments everywhere and blocks for modules, and refused as a whole with the line of what is no HCL", async () => {
    const { locks, problems } = await parse(wild);
    expect(problems).toEqual([]);
    expect(
      locks.map(({ name, hashes, where }) => [name, hashes, where]),
    ).toEqual([
      ["registry.opentofu.org/acme/other", ["zh:bbb"], "lock.hcl:15"],
      [widget, ["h1:bbb=", "zh:ccc"], "lock.hcl:7"],
    ]);
    await expect(parse(`${wild}\n<<<<<<< HEAD\n`)).rejects.toThrow(
      /^lock\.hcl:19: /,
    );
  });

  it.each([
    ["acme/widget", good, unlike],
    ["terraform.io/builtin/terraform", good, unlike],
    ["registry.terraform.io/-/aws", good, /not a namespace/],
    ["Registry.terraform.io/a/b", good, unlike],
    ["a.example:443/acme/net", good, unlike],
    ["xn--bcher-kva.test/a/b", good, unlike],
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
});

describe("a dependency lock file that is written", () => {
  it.each([
    ["registry.terraform.io", "registry.terraform.io"],
    ["b\u00fccher.test", "xn--bcher-kva.test"],
  ])(
    "has its hashes sorted as by the clients, and %s in its own script",
    async (hostname, name) => {
      const before = canonical.replaceAll("registry.terraform.io", hostname);
      const { locks } = await parse(before);
      expect(locks.map((lock) => lock.name)).toEqual([`${name}/acme/widget`]);
      const more = ["zh:ccc", "zh:ddd", "h1:aaa=", "h1:c="];
      const completed = locks.map((lock) => {
        return { ...lock, hashes: [...lock.hashes, ...more] };
      });
      expect(formatLockFile("terraform", completed)).toBe(
        before
          .replace(
            '    "h1:bbb=",\n',
            '    "h1:aaa=",\n    "h1:bbb=",\n    "h1:c=",\n',
          )
          .replace('    "zh:ccc",\n', '    "zh:ccc",\n    "zh:ddd",\n'),
      );
    },
  );
});
