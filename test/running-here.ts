import type { EventEmitter } from "node:events";
import { enableCompileCache } from "node:module";
import { vi } from "vitest";
import { runProgram } from "../src/main/program.ts";
import type { CommandRun } from "./running-command.ts";
import { compiledCode } from "./running-mirror.ts";

// For the threads that commands start.
process.env.NODE_COMPILE_CACHE = compiledCode;
enableCompileCache(compiledCode);

/** One at a time: what is captured belongs to the whole process. */
let last: Promise<unknown> = Promise.resolve();

/**
 * `provender` with these arguments in this process, which spares the time that
 * a process takes to start. What is about processes (signals, standard input,
 * the environment) is for `runCommand`. Lines of the log are not captured.
 */
export function runHere(args: readonly string[]): Promise<CommandRun> {
  const run = last.then(() => capture(args));
  last = run.catch(() => undefined);
  return run;
}

async function capture(args: readonly string[]): Promise<CommandRun> {
  const { argv, exitCode } = process;
  const [stdout, stderr] = [catchText("stdout"), catchText("stderr")];
  const forget = [
    forgetting(process, "SIGINT"),
    forgetting(process, "SIGTERM"),
    forgetting(process.stdout, "error"),
    forgetting(process.stderr, "error"),
  ];
  try {
    process.argv = [...argv.slice(0, 2), ...args];
    process.exitCode = 0;
    await runProgram();
    const { exitCode: status } = process;
    return { stdout: stdout.end(), stderr: stderr.end(), status };
  } finally {
    for (const end of [stdout.end, stderr.end, ...forget]) end();
    Object.assign(process, { argv, exitCode });
  }
}

function catchText(name: "stdout" | "stderr") {
  let all = "";
  const spy = vi.spyOn(process[name], "write");
  spy.mockImplementation((text, encoding, done) => {
    all += String(text);
    const taken = typeof encoding === "function" ? encoding : done;
    taken?.(null);
    return true;
  });
  const end = () => {
    spy.mockRestore();
    return all;
  };
  return { end };
}

/** Takes away the listeners that come from now on. */
function forgetting(
  emitter: Pick<EventEmitter, "listeners" | "off">,
  event: string,
): () => void {
  const known = new Set(emitter.listeners(event));
  return () => {
    for (const one of emitter.listeners(event))
      if (!known.has(one)) emitter.off(event, one as () => void);
  };
}
