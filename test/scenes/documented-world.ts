import { spawn } from "node:child_process";
import { once } from "node:events";
import { chmodSync, copyFileSync, writeFileSync } from "node:fs";
import { delimiter, join } from "node:path";
import { text } from "node:stream/consumers";
import { readPrintedBlock } from "../acceptance/clients.ts";
import { endingWithTests } from "../child-process.ts";
import { issueToken } from "../client-token.ts";
import { createAuthority } from "../fakes/authority.ts";
import { settingsOf } from "../fakes/loose-bucket.ts";
import { startLooseBucket } from "../fakes/loose-bucket.ts";
import { startRegistry, type Registry } from "../fakes/registry.ts";
import { createSigner, defaultSigner } from "../fakes/signing.ts";
import { originsOf } from "../origins.ts";
import { runCommand } from "../running-command.ts";
import {
  compiledCode,
  program,
  scratch,
  startMirror,
  type RunningMirror,
} from "../running-mirror.ts";
import { writeBucketConfiguration } from "./bucket-configuration.ts";
import {
  filesOf,
  makeDist,
  makeOriginFolder,
  writeFiles,
} from "./origin-folder.ts";

const provider = "/providers/registry.terraform.io/hashicorp/aws";
const platforms = ["linux_amd64", "darwin_arm64"];

const root = `terraform {
  required_providers {
    aws = { source = "registry.terraform.io/hashicorp/aws", version = "~> 5.0" }
  }
}
`;
const locks = `provider "registry.terraform.io/hashicorp/aws" {
  version = "5.4.0"
}
`;

const hosts = ["registry.terraform.io", "registry.opentofu.org"];

/** World that the documents describe, on this machine. */
export interface DocumentedWorld {
  /** Runs a command of a document in a shell; resolves with its status and all that it printed. */
  run(
    document: string,
    command: string,
  ): Promise<{ readonly status: number | null; readonly printed: string }>;
  stop(): Promise<void>;
}

/**
 * A mirror with its configuration in the folder where commands run; another one
 * that wants tokens, of which access.md speaks; and an origin of hashicorp/aws,
 * whose 6.0.0 is held back when decisions.md begins.
 */
export async function makeDocumentedWorld(): Promise<DocumentedWorld> {
  const authority = await createAuthority();
  const registry = await publishProviders(await startRegistry({ authority }));
  const origins = Object.assign(
    {},
    ...hosts.map((host) => originsOf(authority, registry, {}, host).origins),
  ) as Record<string, unknown>;
  const ci = issueToken("ci");
  const auth = { tokens: [ci.configured] };
  const stranger = await createSigner({ name: "Stranger" });
  const mirror = await startWithPast({ origins });
  const guarded = await startWithPast({ origins }, { auth });
  let held: Promise<unknown> | undefined;
  const holdBack = async () => {
    await registry.publish({ ...aws("6.0.0"), signer: stranger });
    await mirror.get(`${provider}/6.0.0.json`);
  };

  const folder = await makeFolder(mirror);
  const bucket = await startLooseBucket({ keepsConditions: true });
  const endpoint = new URL(bucket.settings.endpoint as string);
  const onBucket = writeBucketConfiguration(
    scratch("carried"),
    settingsOf(endpoint, "loose"),
  );
  const providers = makeOriginFolder(await defaultSigner());
  let manifest = "";
  const meanings = () => ({
    "/srv/providers": providers,
    "https://mirror.other-site.example.com": mirror.url,
    "https://mirror.example.com:8443/": mirror.url,
    "https://mirror.example.com:8443": mirror.url,
    "https://mirror.example.com/": mirror.url,
    "mirror_example_com:8443": new URL(guarded.url).host.replaceAll(".", "_"),
    THE_TOKEN: ci.token,
    FINGERPRINT: stranger.fingerprint,
    DIGEST: manifest,
  });
  return {
    run: async (document, command) => {
      if (document === "docs/decisions.md") await (held ??= holdBack());
      const asked = document === "docs/access.md" ? guarded : mirror;
      const meant = Object.entries({
        ...meanings(),
        "/path/to/ca.pem": asked.caFile,
      }).reduce(
        (words, [word, value]) => words.replaceAll(word, value),
        command,
      );
      const cwd =
        document === "docs/audit.md" ? join(asked.directory, "audit") : folder;
      const config =
        document === "docs/replicas.md"
          ? onBucket
          : join(folder, "provender.yaml");
      const ran = await runInShell(meant, cwd, makeEnvironment(config, asked));
      const [, sha256 = ""] =
        /^The SHA-256 of its manifest is ([0-9a-f]{64}):/m.exec(ran.printed) ??
        [];
      manifest ||= sha256;
      return ran;
    },
    stop: async () => {
      await Promise.all([mirror.stop(), guarded.stop()]);
      await registry.stop();
      await bucket.stop();
    },
  };
}

function aws(version: string) {
  return { namespace: "hashicorp", type: "aws", version, platforms };
}

async function publishProviders(registry: Registry): Promise<Registry> {
  for (const version of ["5.0.0", "5.3.0", "5.4.0"])
    await registry.publish(aws(version));
  await registry.publish({ ...aws("3.2.2"), type: "null" });
  return registry;
}

async function startWithPast(
  config: Readonly<Record<string, unknown>>,
  added: Readonly<Record<string, unknown>> = {},
): Promise<RunningMirror> {
  const before = await startMirror({ config });
  const archive = "terraform-provider-aws_5.4.0_linux_amd64.zip";
  for (const host of hosts) {
    await before.get(`/providers/${host}/hashicorp/aws/5.4.0.json`);
    await approveFake(before, `${host}/hashicorp`);
  }
  await before.get(`${provider}/${archive}`);
  await before.stop();
  const { directory } = before;
  // Versions are found as soon as they are there.
  const limits = { absence: 0 };
  return startMirror({ config: { ...config, ...added }, limits, directory });
}

/** The program knows another key for these namespaces than that of the fake. */
async function approveFake(
  { configFile }: RunningMirror,
  scope: string,
): Promise<void> {
  const { fingerprint } = await defaultSigner();
  const key = ["--key", fingerprint, "--for", scope];
  const { status, stderr } = await runCommand([
    "trust",
    "approve",
    "--config",
    configFile,
    ...key,
  ]);
  if (status !== 0) throw new Error(stderr);
}

/**
 * Makes the folder that commands name: configurations, lists, a release, the
 * program.
 */
async function makeFolder(mirror: RunningMirror): Promise<string> {
  const folder = scratch("documented");
  const configured = { "main.tf": root, ".terraform.lock.hcl": locks };
  const release = await makeDist({ version: "1.2.3", platforms });
  writeFiles(folder, {
    ...configured,
    "providers.txt": "hashicorp/aws@5.0.0\nhashicorp/null\n",
  });
  for (const name of ["infrastructure", "app"])
    writeFiles(join(folder, name), configured);
  writeFiles(join(folder, "dist"), filesOf(release));
  copyFileSync(mirror.caFile, join(folder, "ca.pem"));
  copyFileSync(mirror.configFile, join(folder, "provender.yaml"));
  writeProgram(join(folder, "provender-0.1.0-linux-x64"), script);
  return folder;
}

const script = `"${process.execPath}" "${program}" "$@"`;

function writeProgram(file: string, line: string): void {
  writeFileSync(file, `#!/bin/sh\nexec ${line}\n`);
  chmodSync(file, 0o755);
}

/**
 * Makes the environment of an operator who followed the mirror's start-up text.
 */
function makeEnvironment(config: string, mirror: RunningMirror) {
  const bin = scratch("bin");
  writeProgram(join(bin, "provender"), script);
  writeProgram(join(bin, "sudo"), '"$@"');
  const home = scratch("home");
  writeFileSync(join(home, ".terraformrc"), readPrintedBlock(mirror.printed));
  return {
    PATH: [bin, process.env.PATH].join(delimiter),
    HOME: home,
    PROVENDER_CONFIG: config,
    NODE_COMPILE_CACHE: compiledCode,
    SSL_CERT_FILE: mirror.caFile,
    CHECKPOINT_DISABLE: "1",
  };
}

async function runInShell(
  command: string,
  cwd: string,
  env: NodeJS.ProcessEnv,
) {
  const shell = endingWithTests("bash", ["-ec", command]);
  const child = spawn(...shell, {
    cwd,
    env,
    stdio: ["ignore", "pipe", "pipe"],
  });
  const [stdout, stderr, [status]] = await Promise.all([
    text(child.stdout),
    text(child.stderr),
    once(child, "exit") as Promise<[number | null]>,
  ]);
  return { status, printed: stdout + stderr };
}
