import { type ChildProcess, spawn } from "node:child_process";
import { opendir, stat } from "node:fs/promises";
import { join } from "node:path";
import type { Readable, Writable } from "node:stream";
import { setTimeout as pause } from "node:timers/promises";

/** Limits of git. */
interface GitBounds {
  /** Bytes of memory of each of its processes. */
  readonly memory: number;
  /** Seconds of the processor, of each of its processes. */
  readonly seconds: number;
  /** Bytes of a repository. */
  readonly bytes: number;
  /** Files and folders of a repository. */
  readonly files: number;
}

/** A repository that is here; threads hand it on. */
export interface GitRepository {
  /** Folder of this work alone; holds `home` (empty) and `repository.git`. */
  readonly folder: string;
  /** Search path for programs. */
  readonly path: string;
  readonly bounds: GitBounds;
}

/**
 * Environment of git: its folder and its one connection. All other settings of
 * the machine are disabled.
 */
export interface GitSurroundings extends GitRepository {
  /** Protocol that git may use. */
  readonly protocol: "https" | "none";
  /** `NAME=VALUE` of git-config(1). */
  readonly settings: readonly string[];
  /** May hold a password, so it is no argument. */
  readonly proxy: URL | undefined;
  /** Hears of the repository's bytes as it grows. */
  readonly hold: (bytes: number) => Promise<void>;
  readonly signal: AbortSignal;
}

/** Returns the environment of a git that only reads local objects. */
export function withoutRemote(
  repository: GitRepository,
  signal: AbortSignal,
): GitSurroundings {
  const nowhere = { protocol: "none", settings: [] } as const;
  const hold = () => Promise.resolve();
  return { ...repository, ...nowhere, proxy: undefined, hold, signal };
}

/**
 * Thrown for an error of git, or when git was killed; the message is git's or
 * ours.
 */
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

/** Starts git without a shell's help in its arguments; it ends with all that it started when the signal aborts or it writes too much. */
export function startGit(
  args: readonly string[],
  surroundings: GitSurroundings,
): { readonly child: BoundedProcess; readonly ended: Promise<void> } {
  const { folder, bounds, signal } = surroundings;
  signal.throwIfAborted();
  const all = [...settings, ...surroundings.settings];
  const command = ["git", ...all.flatMap((one) => ["-c", one]), ...args];
  const child = startBounded(
    command,
    { ...bounds, fileBytes: bounds.bytes },
    { folder, env: environmentOf(surroundings) },
  );
  return { child, ended: watch(child, surroundings) };
}

/** Returns the output of git. */
export async function runGit(
  args: readonly string[],
  surroundings: GitSurroundings,
  mostOutput = 1 << 20,
): Promise<Buffer> {
  const { child, ended } = startGit(args, surroundings);
  child.stdin.end();
  const chunks: Buffer[] = [];
  let size = 0;
  child.stdout.on("data", (chunk: Buffer) => {
    size += chunk.length;
    if (size > mostOutput) child.kill();
    else chunks.push(chunk);
  });
  await ended.catch((error: unknown) => {
    throw size > mostOutput ? new GitFailed("it says too much") : error;
  });
  return Buffer.concat(chunks);
}

async function watch(
  child: BoundedProcess,
  { folder, bounds, hold, signal }: GitSurroundings,
): Promise<void> {
  let said = "";
  let heavy = false;
  let refusal: Error | undefined;
  child.stderr.setEncoding("utf8").on("data", (text: string) => {
    said = (said + text).slice(-2000);
  });
  const gone = new AbortController();
  const abort = () => child.kill();
  signal.addEventListener("abort", abort);
  const repository = join(folder, "repository.git");
  void outgrows(repository, bounds, gone.signal, hold).then(
    (outgrown) => {
      heavy = outgrown;
      if (outgrown) child.kill();
    },
    (error: unknown) => {
      refusal = error as Error;
      child.kill();
    },
  );
  try {
    const status = await child.ended.catch((cause: unknown) => {
      throw new GitFailed((cause as Error).message, { cause });
    });
    if (refusal !== undefined) throw refusal;
    if (status !== 0) throw new GitFailed(reasonOf(status, heavy, said));
  } finally {
    gone.abort();
    signal.removeEventListener("abort", abort);
  }
}

function environmentOf({
  folder,
  path,
  protocol,
  proxy,
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
    GIT_SSH_COMMAND: "false",
    GIT_NO_LAZY_FETCH: "1",
    GIT_NO_REPLACE_OBJECTS: "1",
    GIT_OPTIONAL_LOCKS: "0",
    ...(proxy === undefined ? {} : { https_proxy: proxy.href }),
  };
}

/**
 * Exit statuses for signals of exceeded bounds; the numbers are Linux's and the
 * BSDs'.
 */
const ofTime = 128 + 24;
const ofFileSize = 128 + 25;

function reasonOf(status: number, heavy: boolean, said: string): string {
  if (heavy || status === ofFileSize) return "it is too large";
  if (status === ofTime) return "git needs too much time for it";
  if (status === 127) return notInstalled;
  if (/out of memory|cannot allocate memory|mmap failed/i.test(said))
    return "git needs more memory for it than it may have";
  return causeIn(said);
}

/** The first complaint is the cause, and those after it are what came of it. */
function causeIn(said: string): string {
  const lines = said.split(/[\r\n]+/).filter((line) => line !== "");
  const line = lines.find((one) => /^(?:fatal|error):/.test(one));
  const text = line ?? lines.at(-1) ?? "git was ended";
  return text.replaceAll(/[^\x20-\x7e]/g, "?").slice(0, 300);
}

/** Limits of each process of a program. */
export interface ProcessBounds {
  /** Bytes of address space. */
  readonly memory: number;
  /** Seconds of processor time. */
  readonly seconds: number;
  /** Bytes of each file that it writes. */
  readonly fileBytes: number;
}

/** A program with all that it starts. */
interface BoundedProcess {
  readonly stdin: Writable;
  readonly stdout: Readable;
  readonly stderr: Readable;
  /**
   * Resolves with the exit status when all of its pipes are closed; 127 means a
   * missing program, more than 128 a signal.
   */
  readonly ended: Promise<number>;
  kill(): void;
}

/**
 * Sets the bounds, runs the program, and kills the whole process group when the
 * other end of descriptor 3 closes, also when the daemon is killed. Where the
 * machine has no memory left, the kernel ends these processes first. Bounds
 * unknown to the system's shell are left out.
 */
const script = `
ulimit -c 0
ulimit -v "$1" 2>/dev/null
ulimit -t "$2" 2>/dev/null
ulimit -f "$3" 2>/dev/null
shift 3
{ echo 1000 > /proc/self/oom_score_adj; } 2>/dev/null
{ read -r _ <&3; kill -KILL 0; } </dev/null >/dev/null 2>&1 &
watch=$!
"$@" 3<&-
status=$?
kill -KILL "$watch"
wait "$watch"
exit "$status"
`;

/** POSIX: ulimit -f counts in blocks. */
const block = 512;

/** The arguments reach the program as they are: the shell expands nothing in them. */
export function startBounded(
  command: readonly string[],
  { memory, seconds, fileBytes }: ProcessBounds,
  { folder, env }: { readonly folder: string; readonly env: NodeJS.ProcessEnv },
): BoundedProcess {
  const bounds = [memory / 1024, seconds, fileBytes / block];
  const numbers = bounds.map((bound) => String(Math.ceil(bound)));
  const child = spawn("/bin/sh", ["-c", script, "sh", ...numbers, ...command], {
    cwd: folder,
    env,
    stdio: ["pipe", "pipe", "pipe", "pipe"],
    // A group of its own, so that what it starts ends with it.
    detached: true,
  });
  // Pipes of a dead process emit errors; `ended` has the reason.
  for (const pipe of child.stdio) pipe?.on("error", () => undefined);
  const { stdin, stdout, stderr } = child;
  return {
    stdin,
    stdout,
    stderr,
    ended: awaitEnd(child),
    kill: () => killGroup(child),
  };
}

async function awaitEnd(child: ChildProcess): Promise<number> {
  const { promise, resolve, reject } = Promise.withResolvers<number>();
  child.once("error", reject);
  // A shell that was killed has left its program behind.
  child.once("exit", (_, signal) => {
    if (signal !== null) child.stdio[3]?.destroy();
  });
  child.once("close", (status) => resolve(status ?? 128 + 9));
  return promise;
}

function killGroup({ pid }: ChildProcess): void {
  if (pid === undefined) return;
  try {
    process.kill(-pid, "SIGKILL");
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== "ESRCH") throw error;
  }
}

/** Between the end of one look and the next. */
const lookEvery = 200;

/**
 * Resolves with true once the folder exceeds its bounds, and with false when
 * the signal aborts. `hold` gets the bytes of each look; its errors are thrown.
 */
export async function outgrows(
  folder: string,
  bounds: Pick<GitBounds, "bytes" | "files">,
  signal: AbortSignal,
  hold: (bytes: number) => Promise<void> = () => Promise.resolve(),
): Promise<boolean> {
  while (!signal.aborted) {
    const rest = { ...bounds };
    await weigh(folder, rest, signal);
    if (rest.bytes < 0 || rest.files < 0) return true;
    await hold(bounds.bytes - rest.bytes);
    await pause(lookEvery, undefined, { signal, ref: false }).catch(
      () => undefined,
    );
  }
  return false;
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
