import { execFileSync } from "node:child_process";
import { globSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";
import { issueToken } from "../client-token.ts";
import { tarGz } from "../fakes/module-archive.ts";
import { scratch, startMirror } from "../running-mirror.ts";
import { calling } from "../scenes/module-calls.ts";
import { moduleHost, startOrigins } from "../scenes/world.ts";
import { execute, readLockFile, writeConfiguration } from "./clients.ts";

/** What build-clients.sh installed; says on standard error what is not there. */
function find(name: string, pattern: string): string | undefined {
  const folder = process.env.PROVENDER_CLIENTS;
  const [found] = folder === undefined ? [] : globSync(join(folder, pattern));
  if (found === undefined)
    console.error(`NOT TESTED with ${name}: it is not built.`);
  return found;
}

/** The folder of its package. */
const renovate = find("Renovate", "renovate/node_modules/renovate");
const checkovPython = find("Checkov", "checkov/bin/python");
const tfupdate = find("tfupdate", "tfupdate-*");

const host = "registry.terraform.io";
const platforms = ["linux_amd64", "darwin_arm64"];
const token = issueToken("bot");
const ago = (days: number) => new Date(Date.now() - days * 86_400_000);
const dates = { "1.0.0": ago(400), "1.1.0": ago(30), "2.0.0": ago(1) };

const { registry, modules, ca } = await startOrigins();
// The mirror's own registry is the first of its origins.
registry.services["modules.v1"] = `${modules.url}v1/modules/`;
const config = {
  origins: {
    [host]: { url: registry.url, ca, allowPrivateAddresses: true },
    [moduleHost]: { url: modules.url, ca },
  },
};
const made = { platforms, size: 20_000 };
const releases = Object.entries(dates).map(([version, signedAt]) =>
  registry.publish({ version, signedAt, ...made }),
);
const newest = (await Promise.all(releases)).at(-1);
const resources =
  'resource "aws_s3_bucket" "open" {\n  bucket = "open"\n}\nresource "aws_instance" "web" {\n  ami           = "ami-1"\n  instance_type = "t3.micro"\n}\n';
const bytes = await tarGz([["main.tf", resources]]);
const place = modules.serve("/files/network.tar.gz", bytes);
for (const version of Object.keys(dates))
  modules.publish("acme/network/aws", version, place);
const included = Object.entries(dates).map(([version, date]) => ({
  attributes: { version, "published-at": date },
}));
modules.answer("/v2/modules/acme/network/aws", { included });
/** For what sends no token. */
const open = await startMirror({ config });
const auth = { tokens: [token.configured] };
const minimumAge = "3d";
const modulesToo = { match: `${moduleHost}/*/*/*`, action: "allow" };
const policy = { minimumAge, rules: [{ ...modulesToo, minimumAge }] };
/** With a token, under a minimum age. */
const guarded = await startMirror({ config: { ...config, auth, policy } });

function scanned(): string {
  const directory = scratch("scanned");
  const called = calling(
    `${new URL(guarded.url).host}/acme/network/aws`,
    "1.0.0",
  );
  writeFileSync(join(directory, "main.tf"), called);
  return directory;
}

function run(
  binary: string,
  args: readonly string[],
  env: NodeJS.ProcessEnv,
  cwd = scratch("run"),
) {
  const home = scratch("home");
  return execute(binary, args, {
    ...{ cwd, timeout: 170_000 },
    env: {
      PATH: process.env.PATH,
      ...{ HOME: home, TMPDIR: home, SSL_CERT_FILE: guarded.caFile, ...env },
    },
  });
}

/** Makes Python trust these roots: checkov uses certifi's, and ignores the environment. */
function pythonTrusting(caFile: string): string {
  const folder = scratch("python");
  const text = `import certifi\ncertifi.where = lambda: ${JSON.stringify(caFile)}\n`;
  writeFileSync(join(folder, "sitecustomize.py"), text);
  return folder;
}

it.runIf(checkovPython !== undefined)(
  "Checkov scans a module that comes from the mirror",
  async () => {
    const args = [
      ...["-m", "checkov.main", "--directory", scanned(), "--quiet"],
      ...["--framework", "terraform", "--output", "json"],
      ...["--download-external-modules", "true"],
    ];
    const { output } = await run(checkovPython ?? "", args, {
      ...{ TF_HOST_NAME: new URL(guarded.url).host },
      ...{ TF_REGISTRY_TOKEN: token.token },
      PYTHONPATH: pythonTrusting(guarded.caFile),
    });
    expect(output).toContain('"resource": "module.network.aws_s3_bucket.open"');
  },
);

/** As docs/recipes.md has it. */
function update(args: readonly string[], hostname: string, cwd?: string) {
  const env = {
    SSL_CERT_FILE: open.caFile,
    TFREGISTRY_BASE_URL: `${open.url}registry/${hostname}/`,
  };
  return run(tfupdate ?? "", args, env, cwd);
}

it.runIf(tfupdate !== undefined)(
  "tfupdate finds the newest versions, and locks the right hashes under the name of the mirror",
  async () => {
    for (const [type, name, hostname] of [
      ["tfregistryProvider", "acme/widget", host],
      ["tfregistryModule", "acme/network/aws", moduleHost],
    ] as const) {
      const args = ["release", "latest", "--source-type", type, name];
      const { stdout, stderr } = await update(args, hostname);
      expect([stdout.trim(), stderr]).toEqual(["2.0.0", ""]);
    }
    const directory = scratch("locked");
    const widget = { source: "acme/widget", version: "2.0.0" };
    await writeConfiguration(directory, { widget });
    writeFileSync(join(directory, ".terraform.lock.hcl"), "");
    const flags = platforms.map((one) => `--platform=${one}`);
    const ran = await update(["lock", ...flags, "."], host, directory);
    expect(ran.output).toBe("");
    const { hostname } = new URL(open.url);
    const locked = (await readLockFile(directory)).get(
      `${hostname}/acme/widget`,
    );
    const hashes = newest?.archives.flatMap(({ h1, sha256 }) => [
      h1,
      `zh:${sha256}`,
    ]);
    expect(locked?.hashes.toSorted()).toEqual(hashes?.toSorted());
  },
);

/** As docs/recipes.md has it. */
const renovateSettings = () => ({
  enabledManagers: ["terraform"],
  hostRules: [{ matchHost: guarded.url, token: token.token }],
  packageRules: [
    {
      matchDatasources: ["terraform-provider"],
      registryUrls: [`${guarded.url}registry/${host}`],
    },
    {
      matchDatasources: ["terraform-module"],
      registryUrls: [`${guarded.url}registry/${moduleHost}`],
    },
    {
      matchDatasources: ["terraform-provider", "terraform-module"],
      minimumReleaseAgeBehaviour: "timestamp-optional",
    },
  ],
});

interface Dependency {
  readonly depName: string;
  readonly updates: readonly { readonly newVersion?: string }[];
}

it.runIf(renovate !== undefined)(
  "Renovate finds versions of age, with a token",
  async () => {
    const directory = scratch("repository");
    const widget = { source: "acme/widget", version: "1.0.0" };
    await writeConfiguration(directory, { widget });
    const called = calling("acme/network/aws", "1.0.0");
    writeFileSync(join(directory, "modules.tf"), called);
    for (const args of [
      ["init", "-q"],
      ["add", "."],
    ])
      execFileSync("git", args, { cwd: directory });
    const args = [
      join(renovate ?? "", "dist", "renovate.js"),
      "--platform=local",
    ];
    const env = {
      NODE_EXTRA_CA_CERTS: guarded.caFile,
      ...{ LOG_LEVEL: "debug", LOG_FORMAT: "json" },
      RENOVATE_CONFIG: JSON.stringify(renovateSettings()),
    };
    const { stdout } = await run(process.execPath, args, env, directory);
    const line = stdout
      .split("\n")
      .find((one) => one.includes("packageFiles with updates"));
    if (line === undefined) throw new Error(stdout.slice(-4_000));
    const { config } = JSON.parse(line) as {
      config: { terraform: { deps: Dependency[] }[] };
    };
    const found = config.terraform
      .flatMap(({ deps }) => deps)
      .map(({ updates }) => updates.map(({ newVersion }) => newVersion));
    expect(found).toEqual([["1.1.0"], ["1.1.0"]]);
  },
);
