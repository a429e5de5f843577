import { symlinkSync, writeFileSync } from "node:fs";
import { join, relative } from "node:path";
import { describe, expect, it } from "vitest";
import { formatProviderAddress } from "../../../src/address/provider-address.ts";
import { formatModuleAddress } from "../../../src/address/module-address.ts";
import { formatVersionConstraint } from "../../../src/address/version-constraint.ts";
import { readConfiguration } from "../../../src/commands/inputs/configuration.ts";
import { makeDirectory } from "../storage.ts";

function require(name: string, source: string, version?: string): string {
  const constraint = version === undefined ? "" : `, version = "${version}"`;
  return `terraform {\n  required_providers {\n    ${name} = { source = "${source}"${constraint} }\n  }\n}\n`;
}

function lockOf(...names: readonly string[]): string {
  return names
    .map((name) => `provider "${name}" {\n  version = "1.0.0"\n}\n`)
    .join("");
}

/** What is found in a directory with these files. */
async function read(files: Readonly<Record<string, string>>) {
  const directory = makeDirectory(files);
  const found = await readConfiguration(directory);
  const required = found.required.map(
    ({ provider, constraint, where }) =>
      `${formatProviderAddress(provider)} ${constraint.length === 0 ? "any" : formatVersionConstraint(constraint)} ${relative(directory, where)}`,
  );
  return {
    required: required.toSorted(),
    problems: found.problems.map(({ message }) => relative(directory, message)),
    locked: found.locks.map(({ name }) => name),
    modules: found.modules.map(({ module }) => formatModuleAddress(module)),
    notCarried: found.notCarried,
  };
}

const hashicorp = "registry.terraform.io/hashicorp";

describe("the configuration of a directory", () => {
  it("is read from all its files in either syntax, with lines", async () => {
    const { required, problems } = await read({
      "a.tf": `# first\n${require("aws", "hashicorp/aws", "~> 5.0")}`,
      "b.tf.json": JSON.stringify(
        {
          terraform: [
            {
              "//": "ours",
              required_providers: {
                "//": "and this one",
                random: { source: "hashicorp/random", version: ">= 3.1" },
              },
            },
          ],
        },
        null,
        2,
      ),
      "c.tf": `terraform {\n  required_version = ">= 1.0"\n}\n\nterraform {\n  required_providers {\n    own = {\n      source  = "example.com/Corp/own"\n      version = "1.2.3"\n      configuration_aliases = [own.a, own.b]\n    }\n    bare = {}\n  }\n}\n`,
      "notes.txt": "not { ours",
      ".hidden.tf": "not { ours",
      "x.tf~": "not { ours",
    });
    expect(problems).toEqual([]);
    expect(required).toEqual([
      "example.com/corp/own 1.2.3 c.tf:7",
      `${hashicorp}/aws ~> 5.0 a.tf:4`,
      `${hashicorp}/bare any c.tf:12`,
      `${hashicorp}/random >= 3.1.0 b.tf.json:7`,
    ]);
  });

  it("is read past folders that are named as files, and comments in any encoding", async () => {
    const directory = makeDirectory({
      "x.tf/a": "not { ours",
      "y.tofu.json/a": "not { ours",
      ".terraform.lock.hcl/a": "not { ours",
      "empty.tf": "",
    });
    const body = require("aws", "hashicorp/aws");
    const text = `# caf\u00e9 \u00df\n${body}`;
    writeFileSync(join(directory, "latin1.tf"), Buffer.from(text, "latin1"));
    const found = await readConfiguration(directory);
    expect(found.problems).toEqual([]);
    expect(found.required).toHaveLength(1);
  });

  it("knows the form that is older than sources, and what the client has built in", async () => {
    const { required, problems } = await read({
      "main.tf": `terraform {\r\n  required_providers {\r\n    google = "~> 3.1"\r\n    terraform = { source = "terraform.io/builtin/terraform" }\n  }\r\n}\r\n`,
    });
    expect(problems).toEqual([]);
    expect(required).toEqual([`${hashicorp}/google ~> 3.1 main.tf:3`]);
  });

  it("joins what the local modules want that it calls, also in a circle", async () => {
    const { required } = await read({
      "main.tf": `${require("aws", "hashicorp/aws", ">= 4.0")}module "a" {\n  source = "./modules/a"\n}\nmodule "far" {\n  source = "corp/far/aws"\n}\n`,
      "modules/a/main.tf": `${require("amazon", "hashicorp/aws", "< 6.0, >= 4.0")}module "b" {\n  source = "../b"\n}\n`,
      "modules/b/main.tf": `${require("null", "hashicorp/null")}module "a" {\n  source = "../a"\n}\nmodule "gone" {\n  source = "./gone"\n}\n`,
    });
    expect(required).toEqual([
      `${hashicorp}/aws >= 4.0.0, < 6.0.0 main.tf:3`,
      expect.stringContaining(`${hashicorp}/null any`),
    ]);
  });

  it("names registries in any script", async () => {
    const { required, modules, problems } = await read({
      "main.tf": `${require("a", "b\u00fccher.test/Acme/net")}${require("b", "B\u00dcCHER.test:8443/acme/net")}module "c" {\n  source = "\u4f8b\u3048.test/acme/net/aws"\n}\n`,
    });
    expect(problems).toEqual([]);
    expect(required.map((one) => one.split(" ")[0])).toEqual([
      "xn--bcher-kva.test/acme/net",
      "xn--bcher-kva.test:8443/acme/net",
    ]);
    expect(modules).toEqual(["xn--r8jz45g.test/acme/net/aws"]);
  });

  it("takes what an init found its modules to be in place of its calls", async () => {
    const at = (key: string, source: string, version = "") => {
      return { Key: key, Source: source, Dir: ".", Version: version };
    };
    const { modules, notCarried } = await read({
      "main.tf": `module "own" {\n  source = var.own\n}\n`,
      ".terraform/modules/modules.json": JSON.stringify({
        Modules: [
          at("", ""),
          at("own", "./own"),
          at("own.a", "registry.terraform.io/acme/net/aws", "1.0.0"),
          at("own.b", "git::https://u:secret@git.example.com/b?ref=v1"),
        ],
      }),
    });
    expect(modules).toEqual(["registry.terraform.io/acme/net/aws"]);
    expect(notCarried).toMatchObject([
      { source: "git::https://git.example.com/b" },
    ]);
    const uninstalled = await read({
      "main.tf": `module "own" {\n  source = var.own\n}\n`,
    });
    expect(uninstalled.notCarried).toMatchObject([{ source: "${var.own}" }]);
  });

  it("takes a .tofu file instead of the .tf file of the same name, and then OpenTofu's registry", async () => {
    const { required } = await read({
      "main.tf": require("aws", "hashicorp/aws"),
      "main.tofu": require("null", "hashicorp/null"),
    });
    expect(required).toEqual([
      "registry.opentofu.org/hashicorp/null any main.tofu:3",
    ]);
  });

  it("takes the registry from the lock file for a source without hostname, and requires nothing that is locked", async () => {
    const files = {
      "main.tf":
        require("aws", "hashicorp/aws") + require("null", "hashicorp/null"),
    };
    const theirs = await read({
      ...files,
      ".terraform.lock.hcl": lockOf("registry.opentofu.org/hashicorp/aws"),
    });
    expect(theirs.required.map((one) => one.split(" ")[0])).toEqual([
      "registry.opentofu.org/hashicorp/null",
    ]);
    const ours = await read({
      ...files,
      ".terraform.lock.hcl": `# This file is maintained automatically by "terraform init".\n${lockOf(`${hashicorp}/aws`, "registry.opentofu.org/b/c")}`,
    });
    expect(ours.required.map((one) => one.split(" ")[0])).toEqual([
      `${hashicorp}/null`,
    ]);
  });

  it.each([
    [
      "a.tf",
      "terraform {\n  required_providers {\n    aws = {\n  }\n}\n",
      /^a\.tf:\d: /,
    ],
    ["a.tf", "\n<<<<<<< HEAD\n", /^a\.tf:2: /],
    ["a.tf.json", '{\n "a": 1,\n}', /^a\.tf\.json:3: it is not JSON/],
    ["a.tf", "\u0000\u0001", /^a\.tf:1: /],
    ["a.tf", `a = ${"[".repeat(20_000)}\n`, /^a\.tf: it cannot be parsed/],
    [
      "a.tf",
      'terraform {\n  required_providers {\n    aws = { source = "a/b/c/d" }\n  }\n}\n',
      /^a\.tf:3: "a\/b\/c\/d" is not a provider address/,
    ],
    [
      "a.tf",
      'terraform {\n  required_providers {\n\n    aws = { source = "a/b", version = "v1" }\n  }\n}\n',
      /^a\.tf:4: "v1" is not a version constraint/,
    ],
    [
      "a.tf",
      "terraform {\n  required_providers {\n    aws = { source = var.x }\n  }\n}\n",
      /^a\.tf:3: aws has no plain strings for its source and version/,
    ],
  ])(
    "names what is wrong with %s: %j, and reads the rest",
    async (name, text, problem) => {
      const { required, problems } = await read({
        [name]: text,
        "other.tf": require("null", "hashicorp/null"),
      });
      expect(problems).toEqual([expect.stringMatching(problem)]);
      expect(required).toContain(`${hashicorp}/null any other.tf:3`);
    },
  );
});

describe("searching a directory", () => {
  it("finds roots, and no modules that roots call, below it", async () => {
    const { required, locked, problems } = await read({
      "prod/main.tf": 'module "a" {\n  source = "../modules/a"\n}\n',
      "prod/.terraform/providers/x/main.tf": require("no", "no/no"),
      "prod/.terraform.lock.hcl": lockOf(`${hashicorp}/aws`),
      "modules/a/main.tf": require("aws", "hashicorp/aws"),
      "modules/unused/main.tf": require("http", "hashicorp/http"),
      ".git/main.tf": require("no", "no/no"),
      "locked-only/.terraform.lock.hcl": lockOf(`${hashicorp}/null`),
      "docs/readme.md": "",
    });
    expect(problems).toEqual([]);
    expect(locked.toSorted()).toEqual([
      `${hashicorp}/aws`,
      `${hashicorp}/null`,
    ]);
    expect(required).toEqual([
      `${hashicorp}/http any modules/unused/main.tf:3`,
    ]);
  });

  it("follows no links, but those that calls name", async () => {
    const directory = makeDirectory({
      "root/main.tf": 'module "a" {\n  source = "./linked"\n}\n',
      "a/main.tf": require("null", "hashicorp/null"),
    });
    symlinkSync("..", join(directory, "a", "loop"));
    symlinkSync("nowhere", join(directory, "broken"));
    symlinkSync("../a", join(directory, "root", "linked"));
    const { required, problems } = await readConfiguration(directory);
    expect(problems).toEqual([]);
    expect(required).toHaveLength(1);
  });

  it("says when there is nothing, or no directory, or a file that is too large", async () => {
    const directory = makeDirectory({ "readme.md": "" });
    const problemsOf = async (path: string) => {
      const { problems } = await readConfiguration(path);
      return problems.map(({ message }) => message);
    };
    expect(await problemsOf(directory)).toEqual([
      expect.stringContaining(
        "neither a .terraform.lock.hcl nor a configuration",
      ),
    ]);
    expect(await problemsOf(join(directory, "gone"))).toEqual([
      expect.stringMatching(/gone: it cannot be read \(ENOENT\)/),
    ]);
    writeFileSync(join(directory, "large.tf"), Buffer.alloc(1024 * 1024 + 1));
    expect(await problemsOf(directory)).toEqual([
      expect.stringMatching(
        /large\.tf: it has 1048577 bytes, expected at most/,
      ),
    ]);
  });
});
