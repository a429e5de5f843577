import { spawn } from "node:child_process";
import { opendir, stat } from "node:fs/promises";
import { join } from "node:path";
import { setTimeout as pause } from "node:timers/promises";

interface GitBounds {
  /** Bytes of memory of each of its processes. */
  readonly memory: number;
  /** Seconds of the processor, of each of its processes. */
  readonly seconds: number;
  /** Bytes of a repository, and of each file that is written. */
  readonly bytes: number;
  /** Files and folders of a repository. */
  readonly files: number;
}

interface GitRemote {
  /** `NAME=VALUE` of git-config(1). */
  readonly settings: readonly string[];
  /** May hold a password, so it is no argument. */
  readonly proxy: URL | undefined;
}

/**
 * Environment of git: its folder and, where it may ask a remote, its one
 * connection. All other settings of the machine are disabled.
 */
export interface GitSurroundings {
  /** Folder of this work alone; holds `home` (empty) and `repository.git`. */
  readonly folder: string;
  /** Search path for programs. */
  readonly path: string;
  readonly bounds: GitBounds;
  readonly signal: AbortSignal;
  readonly remote: GitRemote | undefined;
  /** Hears of the repository's bytes as it grows. */
  readonly hold?: (bytes: number) => Promise<void>;
}

export class GitFailed extends Error {}

export const notInstalled = "git is not installed on the mirror's machine";

/** Nothing of the machine's or a repository's own runs, asks, or is asked beside the one remote. */
const settings = [
  "core.hooksPath=/dev/null",
  "core.fsmonitor=false",
  "core.askPass=",
  "core.symlinks=false",
  "core.bigFileThreshold=16m",
  // Otherwise a large pack is one map of more than the memory that git may have.
  "core.packedGitWindowSize=16m",
  "core.packedGitLimit=128m",
  "core.deltaBaseCacheLimit=32m",
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

/**
 * Returns the output of git. The arguments reach it as they are: the shell expands nothing in them. It ends with all that
 * it started when the signal aborts, or it writes or says too much.
 */
export async function runGit(
  args: readonly string[],
  surroundings: GitSurroundings,
  mostOutput = 1 << 20,
): Promise<Buffer> {
  const { folder, bounds, signal, remote } = surroundings;
  signal.throwIfAborted();
  const limits = [bounds.memory / 1024, bounds.seconds, bounds.bytes / block];
  const numbers = limits.map((limit) => String(Math.ceil(limit)));
  const all = [...settings, ...(remote?.settings ?? [])];
  const command = ["git", ...all.flatMap((one) => ["-c", one]), ...args];
  const child = spawn("/bin/sh", ["-c", script, "sh", ...numbers, ...command], {
    cwd: folder,
    env: environmentOf(surroundings),
    stdio: ["pipe", "pipe", "pipe", "pipe"],
    // A group of its own, so that what it starts ends with it.
    detached: true,
  });
  // Pipes of a dead process emit errors; its end has the reason.
  for (const pipe of child.stdio) pipe?.on("error", () => undefined);
  const ended = Promise.withResolvers<number>();
  child.once("error", ({ message }) => ended.reject(new GitFailed(message)));
  // A shell that was killed has left its program behind.
  child.once("exit", (_, killedBy) => {
    if (killedBy !== null) child.stdio[3]?.destroy();
  });
  child.once("close", (status) => ended.resolve(status ?? 128 + 9));
  const kill = () => {
    if (child.pid === undefined) return;
    try {
      process.kill(-child.pid, "SIGKILL");
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== "ESRCH") throw error;
    }
  };
  let refusal: Error | undefined;
  const refuse = (error: Error) => {
    refusal ??= error;
    kill();
  };
  child.stdin.end();
  const chunks: Buffer[] = [];
  let size = 0;
  child.stdout.on("data", (chunk: Buffer) => {
    size += chunk.length;
    if (size > mostOutput) refuse(new GitFailed("it says too much"));
    else chunks.push(chunk);
  });
  let said = "";
  child.stderr.setEncoding("utf8").on("data", (text: string) => {
    said = (said + text).slice(-2000);
  });
  signal.addEventListener("abort", kill);
  const gone = new AbortController();
  watchGrowth(surroundings, gone.signal).catch((error: unknown) => {
    // Its number may be another's by then.
    if (!gone.signal.aborted) refuse(error as Error);
  });
  try {
    const status = await ended.promise;
    if (refusal !== undefined) throw refusal;
    if (status !== 0) throw new GitFailed(reasonOf(status, said));
    return Buffer.concat(chunks);
  } finally {
    gone.abort();
    signal.removeEventListener("abort", kill);
  }
}

function environmentOf({
  folder,
  path,
  remote,
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
    GIT_ALLOW_PROTOCOL: remote ? "https" : "none",
    GIT_SSH_COMMAND: "false",
    GIT_NO_LAZY_FETCH: "1",
    GIT_NO_REPLACE_OBJECTS: "1",
    GIT_OPTIONAL_LOCKS: "0",
    ...(remote?.proxy && { https_proxy: remote.proxy.href }),
  };
}

/**
 * Exit statuses for signals of exceeded bounds; the numbers are Linux's and the
 * BSDs'.
 */
const ofTime = 128 + 24;
const ofFileSize = 128 + 25;
const tooLarge = "it is too large";

function reasonOf(status: number, said: string): string {
  if (status === ofFileSize) return tooLarge;
  if (status === ofTime) return "git needs too much time for it";
  if (status === 127) return notInstalled;
  if (/out of memory|cannot allocate memory|mmap failed/i.test(said))
    return "git needs more memory for it than it may have";
  // The first complaint is the cause, and those after it are what came of it.
  const lines = said.split(/[\r\n]+/).filter((line) => line !== "");
  const line = lines.find((one) => /^(?:fatal|error):/.test(one));
  const text = line ?? lines.at(-1) ?? "git was ended";
  return text.replaceAll(/[^\x20-\x7e]/g, "?").slice(0, 300);
}

/**
 * Sets the bounds, runs the program, and kills the whole process group when the
 * other end of descriptor 3 closes, also when the daemon is killed. Where the
 * machine has no memory left, the kernel ends these processes first. Bounds
 * unknown to the system's shell are left out. Beyond a hard limit of time a
 * process dies without a word of what it was.
 */
const script = `
ulimit -c 0
ulimit -v "$1" 2>/dev/null
ulimit -S -t "$2" 2>/dev/null
ulimit -f "$3" 2>/dev/null
shift 3
{ echo 1000 > /proc/self/oom_score_adj; } 2>/dev/null
{ read -r _ <&3; kill -KILL 0; } </dev/null >/dev/null 2>&1 &
watch=$!
"$@" 3<&-
status=$?
kill -KILL "$watch"
wait "$watch" 2>/dev/null
exit "$status"
`;

/** POSIX: ulimit -f counts in blocks. */
const block = 512;

/** Between the end of one look and the next. */
const lookEvery = 200;

/** Rejects once the repository exceeds its bounds, or `hold`, which gets its bytes at each look, does. */
async function watchGrowth(
  { folder, bounds, hold }: GitSurroundings,
  signal: AbortSignal,
): Promise<void> {
  while (!signal.aborted) {
    const rest = { ...bounds };
    await weigh(join(folder, "repository.git"), rest, signal);
    if (rest.bytes < 0 || rest.files < 0) throw new GitFailed(tooLarge);
    await hold?.(bounds.bytes - rest.bytes);
    await pause(lookEvery, undefined, { signal, ref: false }).catch(
      () => undefined,
    );
  }
}

/** Takes what a folder holds from what may be left, until nothing is; what goes away meanwhile weighs nothing. */
async function weigh(
  folder: string,
  rest: { bytes: number; files: number },
  signal: AbortSignal,
): Promise<void> {
  const entries = await opendir(folder).catch(() => undefined);
  for await (const entry of entries ?? []) {
    const path = join(folder, entry.name);
    rest.files--;
    if (entry.isDirectory()) await weigh(path, rest, signal);
    else
      rest.bytes -= await stat(path).then(
        ({ size }) => size,
        () => 0,
      );
    if (rest.bytes < 0 || rest.files < 0 || signal.aborted) return;
  }
}
