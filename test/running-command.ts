import { spawn } from "node:child_process";
import { once } from "node:events";
import { text } from "node:stream/consumers";
import { compiledCode, program, scratch } from "./running-mirror.ts";
import { endingWithTests } from "./child-process.ts";

export interface CommandRun {
  readonly status: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

export interface CommandOptions {
  readonly cwd?: string;
  readonly env?: Readonly<Record<string, string>>;
  /** Program to run; the tested one by default. */
  readonly program?: string;
  /** Closes the reading end of standard output at once. */
  readonly deaf?: boolean;
  /** Standard input; empty by default. */
  readonly input?: string;
  /** SIGINT is sent when it resolves. */
  readonly interruptAfter?: Promise<unknown>;
}

/** `provender` with these arguments, by default in an empty directory, which is also its home, until it ends. */
export async function runCommand(
  args: readonly string[],
  options: CommandOptions = {},
): Promise<CommandRun> {
  const { deaf = false, env = {} } = options;
  const home = scratch("home");
  const child = spawn(
    ...endingWithTests(process.execPath, [options.program ?? program, ...args]),
    {
      cwd: options.cwd ?? home,
      env: {
        PATH: process.env.PATH,
        HOME: home,
        NODE_COMPILE_CACHE: compiledCode,
        ...env,
      },
      stdio: ["pipe", "pipe", "pipe"],
    },
  );
  child.stdin.on("error", () => undefined).end(options.input ?? "");
  void options.interruptAfter?.then(() => child.kill("SIGINT"));
  if (deaf) child.stdout.destroy();
  const [stdout, stderr, [status]] = await Promise.all([
    deaf ? "" : text(child.stdout),
    text(child.stderr),
    once(child, "exit") as Promise<[number | null]>,
  ]);
  return { status, stdout, stderr };
}
