import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { get } from "node:http";
import { Agent } from "node:https";
import { join } from "node:path";
import { expect, it } from "vitest";
import { endingWithTests } from "../child-process.ts";
import { tarGz } from "../fakes/module-archive.ts";
import { Issuer } from "../fakes/issuer.ts";
import { fetchFrom, scratch, startMirror } from "../running-mirror.ts";
import { calling } from "../scenes/module-calls.ts";
import { moduleHost, startOrigins } from "../scenes/world.ts";
import {
  defaultHosts,
  directConfig,
  findClients,
  hostConfig,
  networkMirrorConfig,
  readLockFile,
  runClient,
  writeConfiguration,
  type Client,
  type ClientOptions,
} from "./clients.ts";

const page = new URL("../../docs/client-matrix.md", import.meta.url);
const clients = await findClients();
const platforms = ["linux_amd64", "darwin_arm64", "windows_amd64"];
const { authority, registry, modules, ca } = await startOrigins();
const released = { platforms, size: 20_000 };
for (const version of ["1.2.3", "1.3.0"])
  await registry.publish({ ...released, version });
const module = await tarGz([["main.tf", 'output "a" { value = "b" }\n']]);
const place = modules.serve("/parts.tar.gz", module);
modules.publish("acme/parts/aws", "1.0.0", place);
const hosts = Object.values(defaultHosts);
const config = {
  origins: {
    ...Object.fromEntries(
      hosts.map((host) => [host, { url: registry.url, ca }]),
    ),
    [moduleHost]: { url: modules.url, ca },
  },
  policy: {
    rules: hosts.map((host) => ({
      ...{ match: `${host}/acme/widget`, versions: "1.3.0", action: "deny" },
    })),
  },
};
const { url: issuer } = await Issuer.start(authority);
const oidc = { issuer, audience: "provender", clientId: "terraform-cli", ca };
/** With a login, and without. */
const guarded = await startMirror({ config: { ...config, auth: { oidc } } });
let mirror = await startMirror({ config });

type Run = Pick<ClientOptions, "directory" | "caFile" | "cliConfig">;

function addressFor({ name }: Client): string {
  return `${defaultHosts[name]}/acme/widget`;
}

async function makeDirectory(client: Client): Promise<string> {
  const directory = scratch("init");
  const source = addressFor(client);
  await writeConfiguration(directory, { widget: { source, version: "1.2.3" } });
  return directory;
}

/** Runs `init`; returns its output and the text of the lock file. */
async function init(client: Client, run: Run) {
  const { output } = await runClient(client, ["init", "-no-color"], run);
  expect(output).toContain("successfully initialized");
  const path = join(run.directory, ".terraform.lock.hcl");
  return { output, lockFile: () => readFileSync(path, "utf8") };
}

async function countHashes(
  client: Client,
  { directory }: Run,
): Promise<string> {
  const lock = (await readLockFile(directory)).get(addressFor(client));
  const count = (scheme: string) =>
    lock?.hashes.filter((hash) => hash.startsWith(scheme)).length ?? 0;
  return `${count("h1:")} h1, ${count("zh:")} zh`;
}

async function throughMirror(client: Client, cliConfig: string): Promise<Run> {
  const directory = await makeDirectory(client);
  return { directory, caFile: mirror.caFile, cliConfig };
}

async function locked(client: Client, cliConfig: string): Promise<string> {
  const run = await throughMirror(client, cliConfig);
  await init(client, run);
  return countHashes(client, run);
}

function trusting(cliConfig: string): string {
  return cliConfig.replace(/(url = .*)/, "$1\n    trust_all_hashes = true");
}

function modulesConfig(): string {
  const url = `${mirror.url}v1/modules/${moduleHost}/`;
  return hostConfig(moduleHost, { "modules.v1": url });
}

/** Through the mirror, what a direct install gives, and what the mirror leaves out. */
async function behindHostBlock(client: Client): Promise<string> {
  const host = defaultHosts[client.name];
  const direct = {
    directory: await makeDirectory(client),
    caFile: ca,
    cliConfig: directConfig(registry.providersUrl, host),
  };
  const expected = (await init(client, direct)).lockFile();
  const facade = `${mirror.url}v1/providers/${host}/`;
  const run = await throughMirror(client, directConfig(facade, host));
  const { output, lockFile } = await init(client, run);
  expect(lockFile()).toBe(expected);
  expect(output).toMatch(/Warning: .*1\.3\.0/);
  return countHashes(client, run);
}

async function withModule(client: Client): Promise<string> {
  const url = `${mirror.url}providers/`;
  const config = networkMirrorConfig(url) + modulesConfig();
  const run = await throughMirror(client, config);
  const called = calling(`${moduleHost}/acme/parts/aws`);
  writeFileSync(join(run.directory, "module.tf"), called);
  const { output } = await init(client, run);
  expect(output).toContain("acme/parts/aws 1.0.0");
  return "yes";
}

/** A client's home below the directory, where `login` leaves the token that `init` sends. */
function moveIn(
  client: Client,
  { directory, cliConfig, caFile }: ClientOptions,
) {
  const home = join(directory, ".home");
  mkdirSync(join(home, ".terraform.d"), { recursive: true });
  for (const name of [".terraformrc", ".tofurc"])
    writeFileSync(join(home, name), cliConfig);
  return {
    init: () =>
      runClient(client, ["init", "-no-color"], {
        ...{ directory, caFile, cliConfig: "" },
        env: { TF_CLI_CONFIG_FILE: "" },
      }),
    /** `login HOST` with "yes" on standard input, and somebody who opens the URL that it prints. */
    login: async (mirrorUrl: string, ca: string): Promise<string> => {
      const args = ["login", "-no-color", new URL(mirrorUrl).host];
      const child = spawn(...endingWithTests(client.binary, args), {
        cwd: home,
        env: {
          ...{ PATH: "/nowhere", HOME: home, CHECKPOINT_DISABLE: "1" },
          ...{ SSL_CERT_FILE: caFile, SSL_CERT_DIR: home },
        },
      });
      const exit = once(child, "exit");
      let output = "";
      let visit: Promise<unknown> | undefined;
      const read = (text: string) => {
        output += text;
        const [, url] = /^\s*(https:\S+\/authorize\?\S+)\n/m.exec(output) ?? [];
        if (url !== undefined) visit ??= logIn(new URL(url), ca);
      };
      child.stdout.setEncoding("utf8").on("data", read);
      child.stderr.setEncoding("utf8").on("data", read);
      child.stdin.end("yes\n");
      await exit;
      await visit;
      return output;
    },
  };
}

async function logIn(url: URL, ca: string): Promise<void> {
  const { headers } = await fetchFrom(url, new Agent({ ca }), {});
  // Clients close their server as soon as they have the code, often before they have answered.
  const sent = get(String(headers.location), (answer) => answer.resume());
  await once(sent, "close").catch((error: unknown) => {
    const { code } = error as NodeJS.ErrnoException;
    if (code !== "ECONNRESET") throw error;
  });
}

async function afterLogin(client: Client): Promise<string> {
  const caFile = join(scratch("ca"), "both.pem");
  const own = readFileSync(guarded.caFile, "utf8");
  writeFileSync(caFile, `${own}\n${authority.caPem}`);
  const cliConfig = networkMirrorConfig(`${guarded.url}providers/`);
  const directory = await makeDirectory(client);
  const home = moveIn(client, { directory, cliConfig, caFile });
  expect((await home.init()).status).toBe(1);
  const output = await home.login(guarded.url, authority.caPem);
  expect(output).toContain("Success!");
  expect((await home.init()).output).toContain("successfully initialized");
  return "yes";
}

const columns: readonly ((client: Client) => Promise<string>)[] = [
  (client) => locked(client, networkMirrorConfig(`${mirror.url}providers/`)),
  (client) =>
    locked(client, trusting(networkMirrorConfig(`${mirror.url}providers/`))),
  behindHostBlock,
  withModule,
  afterLogin,
];

const title = ({ name, version }: Client) =>
  `${name === "tofu" ? "OpenTofu" : "Terraform"} ${version}`;

it.runIf(clients.length > 0)(
  "every client does what the page says",
  async () => {
    const rows: string[][] = [];
    for (const client of clients) {
      const row = [title(client)];
      for (const cell of columns) row.push(await cell(client));
      rows.push(row);
    }
    await Promise.all([registry.stop(), modules.stop(), mirror.stop()]);
    const { directory } = mirror;
    const offline = { ...config, offline: true };
    mirror = await startMirror({ config: offline, directory });
    for (const [index, client] of clients.entries())
      rows[index]?.push(await withModule(client));
    // Without what aligns the columns.
    const known = readFileSync(page, "utf8").replaceAll(/ +/g, " ");
    for (const row of rows) {
      const line = `| ${row.join(" | ")} |\n`;
      if (known.includes(`| ${row[0]} |`)) expect(known).toContain(line);
      else
        console.error(`NOT COMPARED: ${page.pathname} does not have ${line}`);
    }
  },
  clients.length * 60_000,
);
