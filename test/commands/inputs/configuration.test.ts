import { symlinkSync } from "node:fs";
import { join, relative } from "node:path";
import { describe, expect, it } from "vitest";
import { formatVersionConstraint } from "../../../src/address/version-constraint.ts";
import { findRoots } from "../../../src/commands/inputs/configuration.ts";
import { makeDirectory } from "../storage.ts";

type Files = Parameters<typeof makeDirectory>[0];

/** No module is had of any registry. */
const unread = () => Promise.resolve({ because: "no network" });

/** A file whose third line is the first of these. */
const requirements = (...lines: readonly string[]) =>
  `terraform {\n  required_providers {\n    ${lines.join("\n    ")}\n  }\n}\n`;

const require = (name: string, source: string, version?: string) =>
  requirements(
    `${name} = { source = "${source}"${version === undefined ? "" : `, version = "${version}"`} }`,
  );

const call = (name: string, source: string) =>
  `module "${name}" {\n  source = "${source}"\n}\n`;

const lockOf = (...names: readonly string[]) =>
  names
    .map((name) => `provider "${name}" {\n  version = "1.0.0"\n}\n`)
    .join("");

/** A directory as a root, its requirements and its problems. */
async function read(files: Files) {
  const directory = makeDirectory(files);
  const { roots, problems } = await findRoots(directory, unread);
  const [root] = roots.filter((one) => one.directory === directory);
  const required = root?.requirements.map(
    ({ name, constraint, where }) =>
      `${name} ${constraint.length === 0 ? "any" : formatVersionConstraint(constraint)} ${relative(directory, where)}`,
  );
  return {
    ...{ client: root?.client, locks: root?.locks?.locks },
    required: required?.toSorted(),
    problems: problems.map(({ message }) => relative(directory, message)),
  };
}

const lockFile = ".terraform.lock.hcl";
const hashicorp = "registry.terraform.io/hashicorp";
const aws = require("aws", "hashicorp/aws");
const nothing = require("null", "hashicorp/null");

describe("the configuration of a directory", () => {
  it.each<[string, Files, readonly string[]]>([
    [
      "in all its files in either syntax, with lines",
      {
        "a.tf": `# first\n${require("aws", "hashicorp/aws", "~> 5.0")}`,
        "b.tf.json": `{\n "terraform": [\n {\n "//": "ours",\n "required_providers": {\n "//": "and this one",\n "random": { "source": "hashicorp/random", "version": ">= 3.1" } } } ] }`,
        "c.tf":
          `terraform {\n  required_version = ">= 1.0"\n}\n\n${requirements('own = {\n      source  = "b\u00fccher.test/Corp/own"\n      version = "1.2.3"\n      configuration_aliases = [own.a, own.b]\n    }', "bare = {}", 'google = "~> 3.1"', 'terraform = { source = "terraform.io/builtin/terraform" }')}`.replaceAll(
            "\n",
            "\r\n",
          ),
        ...{ "notes.txt": "not { ours", ".hidden.tf": "not { ours" },
        "x.tf~": "not { ours",
      },
      [
        `${hashicorp}/aws ~> 5.0 a.tf:4`,
        `${hashicorp}/bare any c.tf:12`,
        `${hashicorp}/google ~> 3.1 c.tf:13`,
        `${hashicorp}/random >= 3.1.0 b.tf.json:7`,
        "xn--bcher-kva.test/corp/own 1.2.3 c.tf:7",
      ],
    ],
    [
      "narrowed by the versions of provider blocks",
      {
        "main.tf": `${require("own", "corp/aws", "~> 1.0")}provider "own" {\n  version = "1.2.3"\n}\nprovider "aws" {\n  version = ">= 2.0"\n}\n`,
        "b.tf": 'provider "own" {\n  alias = "b"\n  version = "< 1.5"\n}\n',
      },
      [
        "registry.terraform.io/corp/aws ~> 1.0, 1.2.3, < 1.5.0 main.tf:3",
        `${hashicorp}/aws >= 2.0.0 main.tf:9`,
      ],
    ],
    [
      "implied by blocks, but for those that the client has built in",
      {
        "main.tf": `resource "null_resource" "x" {}\n\ndata "http" "y" {\n  url = "https://a.example"\n}\nresource "aws_instance" "z" {\n  provider = mine.west\n}\nresource "terraform_data" "d" {}\nprovider "aws" {\n  region = var.region\n}\ncheck "c" {\n  data "dns_a_record_set" "x" {}\n}\n`,
      },
      [
        `${hashicorp}/aws any main.tf:10`,
        `${hashicorp}/dns any main.tf:14`,
        `${hashicorp}/http any main.tf:3`,
        `${hashicorp}/mine any main.tf:6`,
        `${hashicorp}/null any main.tf:1`,
      ],
    ],
    [
      "joined with those of the local modules that it calls, also in a circle",
      {
        "main.tf": `${require("aws", "hashicorp/aws", ">= 4.0")}${call("a", "./modules/a")}${call("far", "corp/far/aws")}`,
        "modules/a/main.tf": `${require("amazon", "hashicorp/aws", "< 6.0, >= 4.0")}${call("b", "../b")}`,
        "modules/b/main.tf": `${nothing}${call("a", "../a")}${call("gone", "./gone")}`,
      },
      [
        `${hashicorp}/aws >= 4.0.0, < 6.0.0 main.tf:3`,
        expect.stringContaining(`${hashicorp}/null any`) as string,
      ],
    ],
    [
      "in override files, which stand for what they name",
      {
        "main.tf": require("aws", "hashicorp/aws", "~> 5.0"),
        "aws_override.tf": require("aws", "corp/aws", "1.0.0"),
      },
      ["registry.terraform.io/corp/aws 1.0.0 aws_override.tf:3"],
    ],
    [
      "in a .tofu file instead of the .tf file of the same name, and then of OpenTofu's registry",
      { "main.tf": aws, "main.tofu": nothing },
      ["registry.opentofu.org/hashicorp/null any main.tofu:3"],
    ],
    [
      "of OpenTofu's registry where that of the lock file is it",
      {
        "main.tf": nothing,
        [lockFile]: lockOf("registry.opentofu.org/hashicorp/aws"),
      },
      ["registry.opentofu.org/hashicorp/null any main.tf:3"],
    ],
    [
      "of Terraform's registry where Terraform wrote the lock file",
      {
        "main.tf": nothing,
        [lockFile]: `# This file is maintained automatically by "terraform init".\n${lockOf("registry.opentofu.org/b/c")}`,
      },
      [`${hashicorp}/null any main.tf:3`],
    ],
    [
      "but none for folders that are named as files, and in any encoding",
      {
        ...{ "x.tf/main.tf": "", "y.tofu.json/a": "not { ours" },
        [`${lockFile}/a`]: "not { ours",
        "latin1.tf": Buffer.from(`# caf\u00e9\n${aws}`, "latin1"),
        "utf8.tf": `${nothing}/* \u00fc */\n`,
      },
      [`${hashicorp}/aws any latin1.tf:4`, `${hashicorp}/null any utf8.tf:3`],
    ],
    [
      "beyond its lock file, in any encoding",
      {
        "main.tf": aws + nothing,
        [lockFile]: Buffer.from(
          `# caf\u00e9\n${lockOf(`${hashicorp}/aws`)}`,
          "latin1",
        ),
      },
      [`${hashicorp}/null any main.tf:8`],
    ],
  ])("has requirements %s", async (_, files, expected) => {
    const { required, problems } = await read(files);
    expect(problems).toEqual([]);
    expect(required).toEqual(expected);
  });

  it.each([
    ["a.tf.json", '{\n "a": 1,\n}', /^a\.tf\.json:3: it is not JSON/],
    ["a.tf", `a = ${"[".repeat(20_000)}\n`, /^a\.tf: it cannot be parsed/],
    [
      "a.tf",
      require("aws", "a/b/c/d"),
      /^a\.tf:3: this is not a provider address/,
    ],
    [
      "a.tf",
      requirements("", 'aws = { source = "a/b", version = "v1" }'),
      /^a\.tf:4: this is not a version constraint/,
    ],
    [
      "a.tf",
      requirements("aws = { source = var.x }"),
      /^a\.tf:3: aws has no plain strings for its source and version/,
    ],
  ])(
    "names what is wrong with %s: %j, and reads the rest",
    async (name, text, problem) => {
      const files = { [name]: text, "other.tf": nothing };
      const { required, problems } = await read(files);
      expect(problems).toEqual([expect.stringMatching(problem)]);
      expect(required).toContain(`${hashicorp}/null any other.tf:3`);
    },
  );
});

describe("searching a directory", () => {
  it("finds roots below it, no modules that they call, and follows no links but those that calls name", async () => {
    const directory = makeDirectory({
      "prod/main.tf": call("a", "../modules/a") + call("l", "./linked"),
      "prod/.terraform/providers/x/main.tf": require("no", "no/no"),
      [`prod/${lockFile}`]: lockOf(`${hashicorp}/null`),
      "modules/a/main.tf": aws + nothing,
      "modules/linked/main.tf": require("google", "hashicorp/google"),
      "modules/unused/main.tf": nothing,
      ".git/main.tf": require("no", "no/no"),
      [`locked-only/${lockFile}`]: lockOf(`${hashicorp}/null`),
      "docs/readme.md": "",
    });
    symlinkSync("..", join(directory, "modules", "loop"));
    symlinkSync("nowhere", join(directory, "broken"));
    symlinkSync("../modules/linked", join(directory, "prod", "linked"));
    const { roots, problems } = await findRoots(directory, unread);
    expect(problems).toEqual([]);
    const found = roots.map(({ directory: path, requirements }) => [
      ...[relative(directory, path), ...requirements.map(({ name }) => name)],
    ]);
    expect(found.toSorted()).toEqual([
      ["locked-only"],
      ["modules/unused", `${hashicorp}/null`],
      ["prod", `${hashicorp}/aws`, `${hashicorp}/google`],
    ]);
  });

  it.each([
    ["", "neither a .terraform.lock.hcl nor a configuration"],
    ["gone", "gone: it cannot be read (ENOENT)"],
  ])("says when there is nothing, or no directory: %j", async (path, says) => {
    const directory = makeDirectory({ "readme.md": "" });
    const { problems } = await findRoots(join(directory, path), unread);
    expect(problems.map(({ message }) => message)).toEqual([
      expect.stringContaining(says),
    ]);
  });
});
