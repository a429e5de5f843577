import { spawn, type ChildProcess } from "node:child_process";
import type { Readable, Writable } from "node:stream";

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
export interface BoundedProcess {
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
