import { symlinkSync, writeFileSync } from "node:fs";
import { join, relative } from "node:path";
import { describe, expect, it } from "vitest";
import { formatVersionConstraint } from "../../../src/address/version-constraint.ts";
import { findRoots } from "../../../src/commands/inputs/configuration.ts";
import { makeDirectory } from "../storage.ts";

/** No module is had of any registry. */
const unread = () => Promise.resolve({ because: "no network" });

function require(name: string, source: string, version?: string): string {
  const constraint = version === undefined ? "" : `, version = "${version}"`;
  return `terraform {\n  required_providers {\n    ${name} = { source = "${source}"${constraint} }\n  }\n}\n`;
}

function lockOf(...names: readonly string[]): string {
  return names
    .map((name) => `provider "${name}" {\n  version = "1.0.0"\n}\n`)
    .join("");
}

/** What one directory is as a root. */
async function readRootDirectory(
  directory: string,
  open: Parameters<typeof findRoots>[1],
) {
  const { roots } = await findRoots(directory, open);
  const root = roots.find((one) => one.directory === directory);
  if (root === undefined) throw new Error("it is none");
  return root;
}

/** Reads a directory with these files; returns its root's requirements and problems. */
async function read(files: Readonly<Record<string, string>>) {
  const directory = makeDirectory(files);
  const root = await readRootDirectory(directory, unread);
  const required = root.requirements.map(
    ({ name, constraint, where }) =>
      `${name} ${constraint.length === 0 ? "any" : formatVersionConstraint(constraint)} ${relative(directory, where)}`,
  );
  return {
    required: required.toSorted(),
    problems: root.problems.map(({ message }) => relative(directory, message)),
    client: root.client,
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
      "x.tf/main.tf": "not { ours",
      "y.tofu.json/a": "not { ours",
      ".terraform.lock.hcl/a": "not { ours",
      "empty.tf": "",
    });
    const body = require("aws", "hashicorp/aws");
    for (const [name, encoding] of [
      ["latin1.tf", "latin1"],
      ["utf8.tf", "utf8"],
    ] as const) {
      const text = `# caf\u00e9 \u00df\n${body}/* \u00fc */\n`;
      writeFileSync(join(directory, name), Buffer.from(text, encoding));
    }
    writeFileSync(
      join(directory, "windows.tf"),
      Buffer.concat([
        Buffer.from("# \x80\x93\xff\n", "latin1"),
        Buffer.from(body),
      ]),
    );
    const root = await readRootDirectory(directory, unread);
    expect(root.problems).toEqual([]);
    expect(root.requirements).toHaveLength(1);
    const lock = Buffer.from(
      `# caf\u00e9\n${lockOf(`${hashicorp}/aws`)}`,
      "latin1",
    );
    const locked = makeDirectory({ "main.tf": body });
    writeFileSync(join(locked, ".terraform.lock.hcl"), lock);
    const { locks, problems } = await readRootDirectory(locked, unread);
    expect([problems, locks?.locks.length]).toEqual([[], 1]);
  });

  it("knows the forms that are older than sources", async () => {
    const { required, problems } = await read({
      "main.tf": `terraform {\r\n  required_providers {\r\n    google = "~> 3.1"\r\n  }\r\n}\r\n\r\nprovider "aws" {\r\n  version = ">= 2.0"\r\n  region  = var.region\r\n}\r\n`,
    });
    expect(problems).toEqual([]);
    expect(required).toEqual([
      `${hashicorp}/aws >= 2.0.0 main.tf:7`,
      `${hashicorp}/google ~> 3.1 main.tf:3`,
    ]);
  });

  it("joins the versions of provider blocks with what is required", async () => {
    const { required, problems } = await read({
      "main.tf": `${require("own", "corp/aws", "~> 1.0")}provider "own" {\n  version = "1.2.3"\n}\n`,
      "b.tf": 'provider "own" {\n  alias = "b"\n  version = "< 1.5"\n}\n',
      "c.tf": 'provider "null" {\n  version = var.x\n}\n',
    });
    expect(required).toEqual([
      "registry.terraform.io/corp/aws ~> 1.0, 1.2.3, < 1.5.0 main.tf:3",
    ]);
    expect(problems).toEqual([expect.stringContaining("c.tf:1: null has no")]);
  });

  it("knows providers that resources imply, but not those that the client has built in", async () => {
    const { required } = await read({
      "main.tf": `resource "null_resource" "x" {}\n\ndata "http" "y" {\n  url = "https://a.example"\n}\nresource "aws_instance" "z" {\n  provider = mine.west\n}\nresource "terraform_data" "d" {}\ncheck "c" {\n  data "dns_a_record_set" "x" {}\n}\nterraform {\n  required_providers {\n    terraform = { source = "terraform.io/builtin/terraform" }\n  }\n}\n`,
    });
    expect(required).toEqual([
      `${hashicorp}/dns any main.tf:11`,
      `${hashicorp}/http any main.tf:3`,
      `${hashicorp}/mine any main.tf:6`,
      `${hashicorp}/null any main.tf:1`,
    ]);
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
    const directory = makeDirectory({
      "main.tf": `${require("a", "b\u00fccher.test/Acme/net")}${require("b", "B\u00dcCHER.test:8443/acme/net")}module "c" {\n  source = "\u4f8b\u3048.test/acme/net/aws"\n}\n`,
    });
    const opened: string[] = [];
    const { requirements, problems } = await readRootDirectory(
      directory,
      ({ hostname }) => {
        opened.push(hostname);
        return Promise.resolve({ because: "no network" });
      },
    );
    expect(problems).toEqual([]);
    expect(requirements.map(({ name }) => name)).toEqual([
      "xn--bcher-kva.test/acme/net",
      "xn--bcher-kva.test:8443/acme/net",
    ]);
    expect(opened).toEqual(["xn--r8jz45g.test"]);
  });

  it("lets override files stand for what they name", async () => {
    const { required } = await read({
      "main.tf": require("aws", "hashicorp/aws", "~> 5.0"),
      "aws_override.tf": require("aws", "corp/aws", "1.0.0"),
    });
    expect(required).toEqual([
      "registry.terraform.io/corp/aws 1.0.0 aws_override.tf:3",
    ]);
  });

  it("takes a .tofu file instead of the .tf file of the same name, and then OpenTofu's registry", async () => {
    const { required, client } = await read({
      "main.tf": require("aws", "hashicorp/aws"),
      "main.tofu": require("null", "hashicorp/null"),
    });
    expect(required).toEqual([
      "registry.opentofu.org/hashicorp/null any main.tofu:3",
    ]);
    expect(client).toBe("tofu");
  });

  it("takes the registry from the lock file for a source without hostname", async () => {
    const files = {
      "main.tf":
        require("aws", "hashicorp/aws") + require("null", "hashicorp/null"),
    };
    const theirs = await read({
      ...files,
      ".terraform.lock.hcl": lockOf("registry.opentofu.org/hashicorp/aws"),
    });
    expect(theirs.required.map((one) => one.split(" ")[0])).toEqual([
      "registry.opentofu.org/hashicorp/aws",
      "registry.opentofu.org/hashicorp/null",
    ]);
    const ours = await read({
      ...files,
      ".terraform.lock.hcl": `# This file is maintained automatically by "terraform init".\n${lockOf(`${hashicorp}/aws`, "registry.opentofu.org/b/c")}`,
    });
    expect(ours.required.map((one) => one.split(" ")[0])).toEqual([
      `${hashicorp}/aws`,
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
      /^a\.tf:3: this is not a provider address/,
    ],
    [
      "a.tf",
      'terraform {\n  required_providers {\n\n    aws = { source = "a/b", version = "v1" }\n  }\n}\n',
      /^a\.tf:4: this is not a version constraint/,
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
    const directory = makeDirectory({
      "prod/main.tf": 'module "a" {\n  source = "../modules/a"\n}\n',
      "prod/.terraform/providers/x/main.tf": require("no", "no/no"),
      "prod/.terraform.lock.hcl": lockOf(`${hashicorp}/aws`),
      "modules/a/main.tf": require("aws", "hashicorp/aws"),
      "modules/unused/main.tf": require("null", "hashicorp/null"),
      ".git/main.tf": require("no", "no/no"),
      "locked-only/.terraform.lock.hcl": lockOf(`${hashicorp}/null`),
      "docs/readme.md": "",
    });
    const { roots, problems } = await findRoots(directory, unread);
    expect(problems).toEqual([]);
    expect(
      roots.map((root) => relative(directory, root.directory)).toSorted(),
    ).toEqual(["locked-only", "modules/unused", "prod"]);
    const prod = roots.find((root) => root.directory.endsWith("prod"));
    expect(prod?.requirements.map(({ name }) => name)).toEqual([
      `${hashicorp}/aws`,
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
    const { roots, problems } = await findRoots(directory, unread);
    expect(problems).toEqual([]);
    expect(roots.map(({ requirements }) => requirements)).toMatchObject([
      [{ name: `${hashicorp}/null` }],
    ]);
  });

  it("says when there is nothing, or no directory", async () => {
    const directory = makeDirectory({ "readme.md": "" });
    const empty = await findRoots(directory, unread);
    expect(empty.problems.map(({ message }) => message)).toEqual([
      expect.stringContaining(
        "neither a .terraform.lock.hcl nor a configuration",
      ),
    ]);
    const gone = await findRoots(join(directory, "gone"), unread);
    expect(gone.problems.map(({ message }) => message)).toEqual([
      expect.stringMatching(/gone: it cannot be read \(ENOENT\)/),
    ]);
    writeFileSync(join(directory, "file"), "");
    const file = await findRoots(join(directory, "file"), unread);
    expect(file.problems.map(({ message }) => message)).toEqual([
      expect.stringMatching(/file: it cannot be read \(ENOTDIR\)/),
    ]);
  });
});
