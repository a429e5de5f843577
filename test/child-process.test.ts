import { spawn } from "node:child_process";
import { once } from "node:events";
import { connect } from "node:net";
import { expect, it, onTestFinished } from "vitest";
import { bindsChildren } from "./child-process.ts";
import { canSeeProcesses } from "./scenes/processes.ts";

const helpers = new URL("./running-mirror.ts", import.meta.url).href;

/** A process that starts a mirror, as tests do, and never stops it. */
async function startRunner() {
  const code = `
    const { startMirror } = await import("${helpers}");
    const { url, process: { pid } } = await startMirror();
    console.log(JSON.stringify({ url, pid }));`;
  const args = ["--input-type=module", "-e", code];
  const stdio = ["ignore", "pipe", "inherit"] as const;
  const runner = spawn(process.execPath, args, { stdio: [...stdio] });
  const [line] = (await once(runner.stdout, "data")) as [Buffer];
  const mirror = JSON.parse(line.toString()) as { url: string; pid: number };
  onTestFinished(() => {
    runner.kill("SIGKILL");
    if (isAlive(mirror.pid)) process.kill(mirror.pid, "SIGKILL");
  });
  return { runner, mirror };
}

function isAlive(pid: number): boolean {
  try {
    return process.kill(pid, 0);
  } catch {
    return false;
  }
}

it.skipIf(!canSeeProcesses || !bindsChildren).each([
  ["ended hard", "SIGKILL"],
  ["interrupted", "SIGINT"],
  ["asked to end", "SIGTERM"],
] as const)(
  "a mirror ends with the process of tests that started it, when that is %s",
  async (_, signal) => {
    const { runner, mirror } = await startRunner();
    const socket = connect(Number(new URL(mirror.url).port), "127.0.0.1");
    await once(socket, "connect");
    expect(isAlive(mirror.pid)).toBe(true);
    // events.once would reject on a reset.
    const gone = new Promise((resolve) => socket.once("close", resolve));
    socket.on("error", () => undefined);
    runner.kill(signal);
    await gone;
  },
);
