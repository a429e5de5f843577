import { execFile } from "node:child_process";
import { promisify } from "node:util";
import { has } from "../packaging/release.ts";

/** False where there is no libfaketime, which is said. */
export const canFakeTime = await has("faketime", "clocks that are wrong");

/** The environment of a process whose clock on the wall is off by so much, such as `+5m`. */
export async function fakeTime(offset: string) {
  const { stdout } = await promisify(execFile)("faketime", [
    "-m",
    "-f",
    offset,
    "printenv",
    "LD_PRELOAD",
  ]);
  return {
    LD_PRELOAD: stdout.trim(),
    FAKETIME: offset,
    FAKETIME_DONT_FAKE_MONOTONIC: "1",
  };
}
