import { spawn } from "node:child_process";
import { once } from "node:events";
import { closeSync, openSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { stringify } from "yaml";
import { scratch } from "./scratch.ts";
import { startNginx } from "../test/acceptance/servers.ts";
import { createAuthority } from "../test/fakes/authority.ts";
import { findProgram } from "./programs.ts";
import { readUnitEnvironment } from "../test/scenes/unit-environment.ts";

const root = join(import.meta.dirname, "..");
const main = join(root, "src", "main.ts");

/** A daemon as in production: a process of its own that logs every request, to a file. */
export interface Daemon {
  readonly url: string;
  readonly ca: string;
  readonly directory: string;
  readonly pid: number;
  /** Milliseconds from its start until it answered. */
  readonly readyAfter: number;
  readonly stop: () => Promise<void>;
}

export async function startDaemon(
  config: Readonly<Record<string, unknown>>,
  directory: string = scratch("store"),
  flags: readonly string[] = [],
): Promise<Daemon> {
  const folder = scratch("daemon");
  const configFile = join(folder, "provender.yaml");
  const settings = { listen: { port: 0 }, storage: { directory }, ...config };
  writeFileSync(configFile, stringify(settings));
  const log = openSync(join(folder, "log"), "w");
  const start = performance.now();
  const child = spawn(
    process.execPath,
    [...flags, main, "serve", "--config", configFile],
    {
      stdio: ["ignore", "pipe", log],
      env: { ...process.env, ...readUnitEnvironment() },
    },
  );
  closeSync(log);
  const exit = once(child, "exit");
  const stop = async () => {
    child.kill("SIGTERM");
    await exit;
  };
  const url = await readUrl(child.stdout ?? []);
  if (url === undefined) {
    await stop();
    throw new Error(readFileSync(join(folder, "log"), "utf8"));
  }
  return {
    url,
    ca: readFileSync(join(directory, "tls", "v1", "ca.pem"), "utf8"),
    directory,
    pid: child.pid ?? 0,
    readyAfter: performance.now() - start,
    stop,
  };
}

/** Undefined when the daemon ended instead. */
async function readUrl(
  stdout: AsyncIterable<Buffer> | Iterable<Buffer>,
): Promise<string | undefined> {
  let printed = "";
  for await (const chunk of stdout) {
    printed += chunk.toString();
    const url = /serves on (\S+)/.exec(printed)?.[1];
    if (url !== undefined) return url;
  }
  return undefined;
}

/** nginx with one worker; what lies in `root` is served. */
export async function startStaticServer() {
  const authority = await createAuthority();
  const nginx = findProgram("nginx") ?? "nginx";
  const server = await startNginx(nginx, authority, "root root;");
  return { ...server, ca: authority.caPem };
}
