import { spawn } from "node:child_process";
import { once } from "node:events";
import { endingWithTests } from "../child-process.ts";

/** A daemon started by any command line. */
export interface Serving {
  readonly url: string;
  readonly pid: number;
  /** Milliseconds from its start until it served. */
  readonly readyAfter: number;
  readonly log: () => string;
  /** For the operators of clients. */
  readonly printed: string;
  /** SIGTERM; resolves with the exit status, and how long that took. */
  stop(): Promise<{ readonly status: number | null; readonly ms: number }>;
}

/** Resolves once the daemon says where it serves, which it does when it is ready. */
export async function startServing(
  program: string,
  args: readonly string[],
  options: { readonly env?: NodeJS.ProcessEnv; readonly cwd?: string } = {},
): Promise<Serving> {
  const begun = performance.now();
  // runc hands a signal on to what it contains.
  const child = spawn(...endingWithTests(program, args, "TERM"), {
    ...options,
    stdio: ["ignore", "pipe", "pipe"],
  });
  const { stdout, stderr } = child;
  let printed = "";
  let log = "";
  stderr.setEncoding("utf8").on("data", (text: string) => (log += text));
  const ended = once(child, "exit") as Promise<[number | null]>;
  const served = Promise.withResolvers<undefined>();
  stdout.setEncoding("utf8").on("data", (text: string) => {
    printed += text;
    if (printed.includes("serves on ")) served.resolve(undefined);
  });
  const dead = ended.then(([status]) => {
    throw new Error(`it ended with ${String(status)}: ${log}`);
  });
  await Promise.race([served.promise, dead]);
  dead.catch(() => undefined);
  const readyAfter = performance.now() - begun;
  return {
    url: /serves on (\S+)/.exec(printed)?.[1] ?? "",
    pid: child.pid ?? 0,
    readyAfter,
    log: () => log,
    printed,
    stop: async () => {
      const asked = performance.now();
      child.kill("SIGTERM");
      const [status] = await ended;
      return { status, ms: performance.now() - asked };
    },
  };
}
