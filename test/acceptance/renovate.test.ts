import { execFile, execFileSync } from "node:child_process";
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { createAuthority } from "../fakes/authority.ts";
import { tarGz } from "../fakes/module-archive.ts";
import { FakeModuleRegistry } from "../fakes/module-registry.ts";
import { startRegistry, type Registry } from "../fakes/registry.ts";
import { createSigner } from "../fakes/signing.ts";
import { issueToken } from "../client-token.ts";
import { runCommand } from "../scenes/provider-requests.ts";
import { scratch, startMirror, type RunningMirror } from "../running-mirror.ts";
import {
  credentialsConfig,
  findClients,
  hostConfig,
  networkMirrorConfig,
  readLockFile,
  runClient,
} from "./clients.ts";
import { renovate } from "./programs.ts";

/** It and Renovate mean the same registry by an address without hostname. */
const terraform = (await findClients()).find(
  ({ name }) => name === "terraform",
);
const folder = renovate ?? "";
const host = "registry.terraform.io";
const otherHost = "modules.example.com";
const providers = ["widget", "gadget", "wheel", "cog", "lever"];
const modules = ["network", "subnet"];
const platforms = ["linux_amd64", "darwin_arm64"];
const day = 86_400_000;
const ago = (days: number) => new Date(Date.now() - days * day);
const token = issueToken("bot");

let registry: Registry;
let origin: FakeModuleRegistry;
let mirror: RunningMirror;
let directory: string;

beforeAll(async () => {
  const authority = await createAuthority();
  registry = await startRegistry({ authority });
  origin = await FakeModuleRegistry.start({ authority });
  const ca = join(scratch("ca"), "ca.pem");
  writeFileSync(ca, authority.caPem);
  const signer = await createSigner({ name: "Known" });
  const dates = { "1.0.0": ago(400), "1.1.0": ago(30), "2.0.0": ago(1) };
  for (const type of providers)
    for (const [version, signedAt] of Object.entries(dates))
      await registry.publish({
        ...{ type, version, signer, signedAt, platforms, size: 20_000 },
        seed: type,
      });
  for (const name of modules) {
    const bytes = await tarGz([["main.tf", `# ${name}\n`]]);
    const url = origin.serve(`/${name}.tar.gz`, bytes);
    for (const version of Object.keys(dates))
      origin.publish(`acme/${name}/aws`, version, url);
    const included = Object.entries(dates).map(([version, date]) => ({
      attributes: { version, "published-at": date },
    }));
    origin.answer(`/v2/modules/acme/${name}/aws`, { included });
  }
  mirror = await startMirror({
    config: {
      origins: {
        [host]: { url: registry.url, ca },
        [otherHost]: { url: origin.url, ca },
      },
      policy: {
        minimumAge: "3d",
        rules: [
          {
            match: `${otherHost}/*/*/*`,
            action: "allow",
            minimumAge: "3d",
          },
        ],
      },
      auth: { tokens: [token.configured] },
    },
  });
  directory = scratch("repository");
  writeFileSync(join(directory, "main.tf"), configuration("1.0.0"));
  execFileSync("git", ["init", "-q"], { cwd: directory });
  execFileSync("git", ["add", "."], { cwd: directory });
  const flags = platforms.flatMap((one) => ["--platform", one]);
  const locked = await runCommand(mirror, "lock", ...flags, directory);
  expect(locked.stderr).not.toContain("error");
});

afterAll(async () => {
  for (const one of [mirror, registry, origin]) await one.stop();
});

function configuration(version: string): string {
  const required = providers.map(
    (type) =>
      `    ${type} = {\n      source  = "acme/${type}"\n      version = "${version}"\n    }\n`,
  );
  const calls = modules.map(
    (name) =>
      `module "${name}" {\n  source  = "acme/${name}/aws"\n  version = "${version}"\n}\n`,
  );
  return `terraform {\n  required_providers {\n${required.join("")}  }\n}\n${calls.join("")}`;
}

const base = (hostname: string) => `${mirror.url}registry/${hostname}`;
const hostRules = () => [{ matchHost: mirror.url, token: token.token }];

/** As docs/recipes.md has it. */
const settings = () => ({
  enabledManagers: ["terraform"],
  hostRules: hostRules(),
  packageRules: [
    {
      matchDatasources: ["terraform-provider"],
      registryUrls: [base(host)],
    },
    {
      matchDatasources: ["terraform-module"],
      registryUrls: [base(otherHost)],
    },
    {
      matchDatasources: ["terraform-provider", "terraform-module"],
      minimumReleaseAgeBehaviour: "timestamp-optional",
    },
  ],
});

function run(args: readonly string[], env: object): Promise<string> {
  const home = scratch("home");
  const { promise, resolve } = Promise.withResolvers<string>();
  execFile(
    process.execPath,
    [...args],
    {
      cwd: directory,
      maxBuffer: 64 * 1024 * 1024,
      timeout: 110_000,
      env: {
        PATH: process.env.PATH,
        NODE_EXTRA_CA_CERTS: mirror.caFile,
        ...{ HOME: home, TMPDIR: home, ...env },
      },
    },
    (_, stdout, stderr) => resolve(`${stdout}\n${stderr}`),
  );
  return promise;
}

/** Installs what is locked, beside the bot, and leaves the lock file as it is. */
async function init() {
  if (terraform === undefined) return;
  const lock = join(directory, ".terraform.lock.hcl");
  const before = readFileSync(lock, "utf8");
  const modulesUrl = `${mirror.url}v1/modules/${otherHost}/`;
  const cliConfig = [
    networkMirrorConfig(`${mirror.url}providers/`),
    hostConfig(host, { "modules.v1": modulesUrl }),
    ...[new URL(mirror.url).host, host].map((one) =>
      credentialsConfig(one, token.token),
    ),
  ].join("");
  const { caFile } = mirror;
  const run = await runClient(terraform, ["init", "-no-color"], {
    ...{ directory, caFile, cliConfig },
  });
  expect([run.status, run.output]).toEqual([0, expect.any(String)]);
  expect(readFileSync(lock, "utf8")).toBe(before);
}

interface Found {
  readonly depName: string;
  readonly updates: readonly { readonly newVersion?: string }[];
}

/** Runs Renovate and returns the updates that it would make, by name. */
async function findUpdates() {
  const printed = await run(
    [join(folder, "dist", "renovate.js"), "--platform=local"],
    {
      LOG_LEVEL: "debug",
      LOG_FORMAT: "json",
      RENOVATE_CONFIG: JSON.stringify(settings()),
    },
  );
  const line = printed
    .split("\n")
    .find((one) => one.includes("packageFiles with updates"));
  if (line === undefined) throw new Error(printed.slice(-4_000));
  const { config } = JSON.parse(line) as {
    config: { terraform: { deps: Found[] }[] };
  };
  const deps = config.terraform.flatMap((file) => file.deps);
  return Object.fromEntries(
    deps.map(({ depName, updates }) => [
      depName,
      updates.map(({ newVersion }) => newVersion),
    ]),
  );
}

describe.runIf(renovate !== undefined)(
  "a day of Renovate behind the mirror",
  () => {
    it(
      "finds versions of age with a token, locks what provender hash says and Terraform installs, and finds nothing the second time",
      { timeout: 240_000 },
      async () => {
        const names = [
          ...providers.map((type) => `acme/${type}`),
          ...modules.map((name) => `acme/${name}/aws`),
        ];
        const expected = (found: readonly string[]) =>
          Object.fromEntries(names.map((name) => [name, found]));
        const short = (found: object) =>
          Object.fromEntries(
            Object.entries(found).map(([name, versions]) => [
              name.includes("/") ? name : `acme/${name}`,
              versions as unknown,
            ]),
          );
        await init();
        expect(short(await findUpdates())).toEqual(expected(["1.1.0"]));

        const cache = scratch("cache");
        mkdirSync(join(cache, "others"), { recursive: true });
        const printed = await run(
          [
            join(import.meta.dirname, "renovate-lock.mjs"),
            folder,
            JSON.stringify({
              ...{ directory, cache, hostRules: hostRules() },
              registryUrls: [base(host)],
              updates: providers.map((type) => ({
                ...{ packageName: `acme/${type}`, depName: `acme/${type}` },
                ...{ currentValue: "1.0.0", newValue: "1.1.0" },
                ...{ currentVersion: "1.0.0", newVersion: "1.1.0" },
              })),
            }),
          ],
          {},
        );
        const [, result = "null"] = /^RESULT (.*)$/m.exec(printed) ?? [];
        const [written] = JSON.parse(result) as {
          file?: { contents: string };
          artifactError?: unknown;
        }[];
        expect(written?.artifactError, printed).toBeUndefined();
        writeFileSync(
          join(directory, ".terraform.lock.hcl"),
          written?.file?.contents ?? "",
        );
        writeFileSync(join(directory, "main.tf"), configuration("1.1.0"));
        await init();
        await expectHashes();
        expect(short(await findUpdates())).toEqual(expected([]));
      },
    );
  },
);

/** Expects the locked hashes to be those that `provender hash` prints. */
async function expectHashes() {
  const locks = await readLockFile(directory);
  const archives = scratch("archives");
  for (const type of providers) {
    const lock = locks.get(`${host}/acme/${type}`);
    const hashes: string[] = [];
    for (const platform of platforms) {
      const name = `terraform-provider-${type}_1.1.0_${platform}.zip`;
      const file = join(archives, name);
      const headers = { authorization: `Bearer ${token.token}` };
      const path = `/providers/${host}/acme/${type}/${name}`;
      const { body } = await mirror.get(path, { headers });
      writeFileSync(file, body);
      const printed = execFileSync(process.execPath, [
        join(import.meta.dirname, "..", "..", "src", "main.ts"),
        ...["hash", "--json", file],
      ]);
      const {
        archives: [hashed],
      } = JSON.parse(printed.toString()) as {
        archives: { h1: string; zh: string }[];
      };
      hashes.push(hashed?.h1 ?? "", hashed?.zh ?? "");
    }
    expect(lock?.hashes.toSorted()).toEqual(hashes.toSorted());
  }
  const text = readFileSync(join(directory, ".terraform.lock.hcl"), "utf8");
  expect(text).not.toContain("1.0.0");
}
