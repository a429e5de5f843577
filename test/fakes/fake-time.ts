import { execFile } from "node:child_process";
import { existsSync, readdirSync, rmSync } from "node:fs";
import { join } from "node:path";
import { promisify } from "node:util";
import { has } from "../packaging/release.ts";

/** False where there is no libfaketime, which is said. */
export const canFakeTime = await has("faketime", "clocks that are wrong");

/** The environment of a process whose clock on the wall is off by so much, such as `+5m`. */
export async function fakeTime(offset: string) {
  return { ...(await preload()), FAKETIME: offset };
}

/** The same by how much a file says now, so that the clock can be set while the process runs. */
export async function fakeTimeOf(file: string) {
  sweep();
  return {
    ...(await preload()),
    FAKETIME_TIMESTAMP_FILE: file,
    FAKETIME_NO_CACHE: "1",
  };
}

/** Removes what libfaketime left of processes that ended: it refuses another process of the same number. */
function sweep(): void {
  const folder = "/dev/shm";
  for (const name of readdirSync(folder)) {
    const [, pid] =
      /^(?:sem\.faketime_sem|faketime_shm)_(\d+)$/.exec(name) ?? [];
    if (pid !== undefined && !existsSync(`/proc/${pid}`))
      rmSync(join(folder, name), { force: true });
  }
}

let preloaded: Promise<Readonly<Record<string, string>>> | undefined;

function preload() {
  return (preloaded ??= findPreload());
}

async function findPreload() {
  const { stdout } = await promisify(execFile)("faketime", [
    ...["-m", "-f", "+0", "printenv", "LD_PRELOAD"],
  ]);
  return { LD_PRELOAD: stdout.trim(), FAKETIME_DONT_FAKE_MONOTONIC: "1" };
}
