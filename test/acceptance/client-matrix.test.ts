import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { get } from "node:http";
import { Agent } from "node:https";
import { join } from "node:path";
import { expect, it } from "vitest";
import { lockFileName } from "../../src/commands/inputs/dependency-lock-file.ts";
import { endingWithTests } from "../child-process.ts";
import { tarGz } from "../fakes/module-archive.ts";
import { startIssuer } from "../fakes/issuer.ts";
import { fetchFrom, scratch, startMirror } from "../running-mirror.ts";
import { calling } from "../scenes/module-calls.ts";
import { moduleHost, startOrigins } from "../scenes/world.ts";
import {
  defaultHosts,
  directConfig,
  hostConfig,
  init,
  networkMirrorConfig,
  readLockFile,
  runClient,
  writeConfiguration,
  type Client,
  type ClientOptions,
} from "./clients.ts";
import { findTestedClients } from "./tested-clients.ts";

const page = new URL("../../docs/client-matrix.md", import.meta.url);
const clients = await findTestedClients();
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
const { url: issuer } = await startIssuer(authority);
const oidc = { issuer, audience: "provender", clientId: "terraform-cli", ca };
/** With a login, and without. */
const guarded = await startMirror({ config: { ...config, auth: { oidc } } });
let mirror = await startMirror({ config });

const addressOf = ({ name }: Client) => `${defaultHosts[name]}/acme/widget`;
const network = () => networkMirrorConfig(`${mirror.url}providers/`);

/** `init` that installs the provider, and what is also in its directory; the lock file, and how many hashes are in it. */
async function install(
  client: Client,
  cliConfig: string,
  { caFile = mirror.caFile, files = {} } = {},
) {
  const required = { widget: { source: addressOf(client), version: "1.2.3" } };
  const ran = await init(client, required, { cliConfig, caFile, files });
  expect(ran.output).toContain("successfully initialized");
  const lock = (await readLockFile(ran.directory)).get(addressOf(client));
  const count = (scheme: string) =>
    lock?.hashes.filter((hash) => hash.startsWith(scheme)).length ?? 0;
  return {
    output: ran.output,
    lockFile: readFileSync(join(ran.directory, lockFileName), "utf8"),
    hashes: `${count("h1:")} h1, ${count("zh:")} zh`,
  };
}

/** What a direct install locks, and what the mirror leaves out. */
async function behindHostBlock(client: Client): Promise<string> {
  const host = defaultHosts[client.name];
  const directly = directConfig(registry.providersUrl, host);
  const direct = await install(client, directly, { caFile: ca });
  const facade = `${mirror.url}v1/providers/${host}/`;
  const ours = await install(client, directConfig(facade, host));
  expect(ours.lockFile).toBe(direct.lockFile);
  expect(ours.output).toMatch(/Warning: .*1\.3\.0/);
  return ours.hashes;
}

async function withModule(client: Client): Promise<string> {
  const url = `${mirror.url}v1/modules/${moduleHost}/`;
  const config = network() + hostConfig(moduleHost, { "modules.v1": url });
  const files = { "module.tf": calling(`${moduleHost}/acme/parts/aws`) };
  const { output } = await install(client, config, { files });
  expect(output).toContain("acme/parts/aws 1.0.0");
  return "yes";
}

/** `login HOST` with "yes" on standard input, and somebody who opens the URL that it prints. */
async function login(
  client: Client,
  { directory, caFile }: ClientOptions,
): Promise<string> {
  const home = join(directory, ".home");
  const args = ["login", "-no-color", new URL(guarded.url).host];
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
    if (url !== undefined) visit ??= logIn(new URL(url));
  };
  child.stdout.setEncoding("utf8").on("data", read);
  child.stderr.setEncoding("utf8").on("data", read);
  child.stdin.end("yes\n");
  await exit;
  await visit;
  return output;
}

async function logIn(url: URL): Promise<void> {
  const agent = new Agent({ ca: authority.caPem });
  const { headers } = await fetchFrom(url, agent, {});
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
  const directory = scratch("init");
  const widget = { source: addressOf(client), version: "1.2.3" };
  await writeConfiguration(directory, { widget });
  const home = join(directory, ".home");
  mkdirSync(join(home, ".terraform.d"), { recursive: true });
  for (const name of [".terraformrc", ".tofurc"])
    writeFileSync(
      join(home, name),
      networkMirrorConfig(`${guarded.url}providers/`),
    );
  // Its home has the token that it sends.
  const env = { TF_CLI_CONFIG_FILE: "" };
  const options = { directory, caFile, cliConfig: "", env };
  const again = () => runClient(client, ["init", "-no-color"], options);
  expect((await again()).status).toBe(1);
  expect(await login(client, options)).toContain("Success!");
  expect((await again()).output).toContain("successfully initialized");
  return "yes";
}

const trusting = () =>
  network().replace(/(url = .*)/, "$1\n    trust_all_hashes = true");

const columns: readonly ((client: Client) => Promise<string>)[] = [
  async (client) => (await install(client, network())).hashes,
  async (client) => (await install(client, trusting())).hashes,
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
