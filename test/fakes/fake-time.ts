import { execFile } from "node:child_process";
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
  return {
    ...(await preload()),
    FAKETIME_TIMESTAMP_FILE: file,
    FAKETIME_NO_CACHE: "1",
  };
}

async function preload() {
  const { stdout } = await promisify(execFile)("faketime", [
    ...["-m", "-f", "+0", "printenv", "LD_PRELOAD"],
  ]);
  return { LD_PRELOAD: stdout.trim(), FAKETIME_DONT_FAKE_MONOTONIC: "1" };
}
