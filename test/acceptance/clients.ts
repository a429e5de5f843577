import { execFile, type ExecFileOptions } from "node:child_process";
import { globSync } from "node:fs";
import { mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { stripVTControlCharacters } from "node:util";
import {
  lockFileName,
  type ProviderLock,
  readLockFile as parse,
} from "../../src/commands/inputs/dependency-lock-file.ts";
import type { ReleaseArchive } from "../fakes/release.ts";
import { findOnPath } from "../on-path.ts";
import { scratch } from "../running-mirror.ts";

/** Default registry of each client, for an address without a hostname. */
export const defaultHosts = {
  terraform: "registry.terraform.io",
  tofu: "registry.opentofu.org",
} as const;

const names = ["terraform", "tofu"] as const;

export interface Client {
  readonly name: (typeof names)[number];
  readonly binary: string;
  readonly version: string;
}

export interface ClientRun {
  /** The exit status; null when it was ended by the timeout. */
  readonly status: number | null;
  readonly stdout: string;
  readonly stderr: string;
  /** Both as one line without colours and frames, so that messages can be matched. */
  readonly output: string;
}

export interface ClientOptions {
  /** The configuration directory, which also holds the client's home. */
  readonly directory: string;
  readonly cliConfig: string;
  /** The authorities to trust, PEM. */
  readonly caFile: string;
  readonly env?: Readonly<Record<string, string>>;
}

/** Finds clients on PATH, and as NAME-VERSION in the folder `PROVENDER_CLIENTS`. */
export async function findClients(): Promise<readonly Client[]> {
  const folder = process.env.PROVENDER_CLIENTS;
  if (folder === undefined)
    console.error("NOT TESTED with other clients: PROVENDER_CLIENTS is unset.");
  const found = names.flatMap((name) => {
    const onPath = findOnPath(name, `what ${name} does`);
    const built =
      folder === undefined ? [] : globSync(join(folder, `${name}-*`));
    return [...(onPath === undefined ? [] : [onPath]), ...built.toSorted()].map(
      (binary) => ({ name, binary }),
    );
  });
  const env = { CHECKPOINT_DISABLE: "1", TF_CLI_CONFIG_FILE: "/dev/null" };
  const clients = found.map(async ({ name, binary }) => {
    const run = await execute(binary, ["version", "-json"], { env });
    const { terraform_version: version } = JSON.parse(run.stdout) as {
      readonly terraform_version: string;
    };
    return { name, binary, version };
  });
  return Promise.all(clients);
}

export function isSince({ version }: Client, minor: number): boolean {
  return Number(/^1\.(\d+)\./.exec(version)?.[1]) >= minor;
}

/** Returns the hashes that a client locks of an archive; OpenTofu 1.10 and later add the zh:. */
export function ownHashes(
  client: Client,
  { h1, sha256 }: Pick<ReleaseArchive, "h1" | "sha256">,
): readonly string[] {
  const both = client.name === "tofu" && isSince(client, 10);
  return both ? [h1, `zh:${sha256}`] : [h1];
}

/** Runs a client that knows nothing of this machine but what is given. */
export async function runClient(
  client: Client,
  args: readonly string[],
  { directory, cliConfig, caFile, env = {} }: ClientOptions,
): Promise<ClientRun> {
  const home = join(directory, ".home");
  const configFile = join(home, "cli.tfrc");
  await mkdir(home, { recursive: true });
  await writeFile(configFile, cliConfig);
  return execute(client.binary, args, {
    cwd: directory,
    timeout: 300_000,
    env: {
      PATH: process.env.PATH,
      HOME: home,
      TF_CLI_CONFIG_FILE: configFile,
      TF_IN_AUTOMATION: "1",
      TF_INPUT: "0",
      CHECKPOINT_DISABLE: "1",
      SSL_CERT_FILE: caFile,
      SSL_CERT_DIR: home,
      ...env,
    },
  });
}

export function execute(
  binary: string,
  args: readonly string[],
  options: Omit<ExecFileOptions, "encoding">,
): Promise<ClientRun> {
  const all = { ...options, maxBuffer: 64 * 1024 * 1024 };
  return new Promise((resolve) => {
    const child = execFile(binary, args, all, (_, stdout, stderr) => {
      const both = stripVTControlCharacters(stdout + stderr);
      const output = both.replace(/[\s│╷╵]+/g, " ");
      resolve({ status: child.exitCode, stdout, stderr, output });
    });
  });
}

/** `init` in a directory of its own that requires these, and has these files. */
export async function init(
  client: Client,
  required: RequiredProviders,
  {
    files = {},
    ...options
  }: Omit<ClientOptions, "directory"> & {
    readonly files?: Readonly<Record<string, string>>;
  },
) {
  const directory = scratch("init");
  await writeConfiguration(directory, required);
  for (const [name, text] of Object.entries(files))
    await writeFile(join(directory, name), text);
  const args = ["init", "-no-color"];
  const ran = await runClient(client, args, { directory, ...options });
  return { ...ran, directory };
}

/** By local name. */
export type RequiredProviders = Readonly<
  Record<string, { readonly source: string; readonly version?: string }>
>;

export async function writeConfiguration(
  directory: string,
  providers: RequiredProviders,
): Promise<void> {
  const entries = Object.entries(providers).map(
    ([name, provider]) =>
      `    ${name} = ${JSON.stringify(provider).replaceAll('":', '"=')}\n`,
  );
  const text = `terraform {\n  required_providers {\n${entries.join("")}  }\n}\n`;
  await writeFile(join(directory, "main.tf"), text);
}

/** Everything from the network mirror at `url`, which ends in a slash. */
export function networkMirrorConfig(url: string): string {
  return `provider_installation {\n  network_mirror {\n    url = "${url}"\n  }\n}\n`;
}

/** Returns the block for ~/.terraformrc that a mirror prints at its start. */
export function readPrintedBlock(printed: string): string {
  return printed.slice(printed.indexOf("# For ~/.terraformrc"));
}

/** Everything from origin registries, of which `hostname`'s is at `providersUrl`. */
export function directConfig(
  providersUrl: string,
  hostname = "registry.terraform.io",
): string {
  const host = hostConfig(hostname, { "providers.v1": providersUrl });
  return `${host}provider_installation {\n  direct {}\n}\n`;
}

/** Where a host's services are, instead of asking it. */
export function hostConfig(
  hostname: string,
  services: Readonly<Record<string, string>>,
): string {
  const lines = Object.entries(services).map(
    ([name, url]) => `    "${name}" = "${url}"\n`,
  );
  return `host "${hostname}" {\n  services = {\n${lines.join("")}  }\n}\n`;
}

/** The dependency lock file of a directory by provider address. */
export async function readLockFile(
  directory: string,
): Promise<ReadonlyMap<string, ProviderLock>> {
  const { locks } = await parse(join(directory, lockFileName));
  return new Map(locks.map((lock) => [lock.name, lock]));
}
