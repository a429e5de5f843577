import { spawn, type ChildProcess } from "node:child_process";
import { readdir, stat } from "node:fs/promises";
import { join } from "node:path";

/** Where git works and what it may reach; everything else of the machine's settings is shut out. */
export interface GitSurroundings {
  /** Of this work alone; holds `home` (empty) and `repository.git`. */
  readonly folder: string;
  /** Where programs are looked for. */
  readonly path: string;
  readonly protocol: "https" | "ssh";
  /** `NAME=VALUE` of git-config(1). */
  readonly settings: readonly string[];
  /** May hold a password, so it is no argument. */
  readonly proxy: URL | undefined;
  /** What git calls to reach a host by ssh. */
  readonly ssh: string;
  /** Bytes that the folder may take. */
  readonly mostBytes: number;
  readonly signal: AbortSignal;
}

/** Git ended with an error, or was ended; the message is the last line that it said. */
export class GitFailed extends Error {}

/** Nothing of the machine's or a repository's own runs, asks, or is asked beside the one remote. */
const settings = [
  "core.hooksPath=/dev/null",
  "core.fsmonitor=false",
  "core.askPass=",
  "core.symlinks=false",
  "core.bigFileThreshold=16m",
  "core.alternateRefsCommand=",
  "credential.helper=",
  "fetch.recurseSubmodules=false",
  "submodule.recurse=false",
  "fetch.unpackLimit=1",
  "transfer.bundleURI=false",
  "gc.auto=0",
  "maintenance.auto=false",
  "pack.threads=1",
  "http.followRedirects=false",
  "http.sslVerify=true",
];

/** Between looks at how much git wrote. */
const weighEvery = 200;

/** Starts git in a process group of its own, without a shell; it is killed with all that it started when the signal aborts or it writes too much. */
export function startGit(
  args: readonly string[],
  surroundings: GitSurroundings,
): { readonly child: ChildProcess; readonly ended: Promise<void> } {
  const { folder, signal } = surroundings;
  signal.throwIfAborted();
  const all = [...settings, ...surroundings.settings];
  const child = spawn(
    "git",
    [...all.flatMap((setting) => ["-c", setting]), ...args],
    {
      cwd: folder,
      env: environmentOf(surroundings),
      stdio: ["pipe", "pipe", "pipe"],
      detached: true,
    },
  );
  // Of a process that is gone, its pipes say so; `ended` tells why.
  child.stdin.on("error", () => undefined);
  return { child, ended: watch(child, surroundings) };
}

/** What git printed; throws GitFailed, also above `mostOutput` bytes. */
export async function runGit(
  args: readonly string[],
  surroundings: GitSurroundings,
  mostOutput = 1 << 20,
): Promise<Buffer> {
  const { child, ended } = startGit(args, surroundings);
  child.stdin?.end();
  const chunks: Buffer[] = [];
  let size = 0;
  child.stdout?.on("data", (chunk: Buffer) => {
    size += chunk.length;
    if (size > mostOutput) killGroup(child);
    else chunks.push(chunk);
  });
  await ended.catch((error: unknown) => {
    throw size > mostOutput ? new GitFailed("it says too much") : error;
  });
  return Buffer.concat(chunks);
}

export function killGroup({ pid }: ChildProcess): void {
  if (pid === undefined) return;
  try {
    process.kill(-pid, "SIGKILL");
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== "ESRCH") throw error;
  }
}

async function watch(
  child: ChildProcess,
  { folder, mostBytes, signal }: GitSurroundings,
): Promise<void> {
  const { promise, resolve, reject } = Promise.withResolvers<void>();
  let said = "";
  let heavy = false;
  child.stderr?.setEncoding("utf8").on("data", (text: string) => {
    said = (said + text).slice(-2000);
  });
  child.once("error", (error) => reject(notStarted(error)));
  child.once("close", (status) => {
    if (status === 0) resolve();
    else reject(new GitFailed(heavy ? "it is too large" : lastLine(said)));
  });
  const abort = () => killGroup(child);
  signal.addEventListener("abort", abort);
  const scale = setInterval(() => {
    void weigh(folder).then((bytes) => {
      if (bytes <= mostBytes) return;
      heavy = true;
      killGroup(child);
    });
  }, weighEvery);
  try {
    await promise;
  } finally {
    clearInterval(scale);
    signal.removeEventListener("abort", abort);
  }
}

function environmentOf({
  folder,
  path,
  protocol,
  proxy,
  ssh,
}: GitSurroundings): NodeJS.ProcessEnv {
  const home = join(folder, "home");
  return {
    PATH: path,
    HOME: home,
    XDG_CONFIG_HOME: home,
    LC_ALL: "C",
    GIT_DIR: join(folder, "repository.git"),
    GIT_CONFIG_NOSYSTEM: "1",
    GIT_CONFIG_SYSTEM: "/dev/null",
    GIT_CONFIG_GLOBAL: "/dev/null",
    GIT_ATTR_NOSYSTEM: "1",
    GIT_TERMINAL_PROMPT: "0",
    GIT_ASKPASS: "",
    SSH_ASKPASS: "",
    GIT_ALLOW_PROTOCOL: protocol,
    GIT_SSH_COMMAND: ssh,
    GIT_SSH_VARIANT: "ssh",
    GIT_NO_LAZY_FETCH: "1",
    GIT_NO_REPLACE_OBJECTS: "1",
    GIT_OPTIONAL_LOCKS: "0",
    ...(proxy === undefined ? {} : { https_proxy: proxy.href }),
  };
}

/** Bytes of the files in a folder; what goes away meanwhile weighs nothing. */
async function weigh(folder: string): Promise<number> {
  const entries = await readdir(folder, {
    recursive: true,
    withFileTypes: true,
  }).catch(() => []);
  const sizes = await Promise.all(
    entries
      .filter((entry) => entry.isFile())
      .map(({ parentPath, name }) =>
        stat(join(parentPath, name)).then(
          ({ size }) => size,
          () => 0,
        ),
      ),
  );
  return sizes.reduce((sum, size) => sum + size, 0);
}

function notStarted(error: NodeJS.ErrnoException): GitFailed {
  const reason =
    error.code === "ENOENT"
      ? "git is not installed on the mirror's machine"
      : error.message;
  return new GitFailed(reason, { cause: error });
}

function lastLine(said: string): string {
  const lines = said.split(/[\r\n]+/).filter((line) => line !== "");
  const line = lines.findLast((one) => /^(?:fatal|error):/.test(one));
  const text = line ?? lines.at(-1) ?? "git was ended";
  return text.replaceAll(/[^\x20-\x7e]/g, "?").slice(0, 300);
}
