import { readdirSync, readlinkSync } from "node:fs";

/** True where /proc tells what runs. */
export const canSeeProcesses = process.platform === "linux";

/** The processes that work below a folder, by their number. */
export function processesBelow(folder: string): readonly number[] {
  return readdirSync("/proc")
    .filter((name) => /^\d+$/.test(name))
    .map(Number)
    .filter((pid) => worksBelow(pid, folder));
}

function worksBelow(pid: number, folder: string): boolean {
  try {
    return readlinkSync(`/proc/${pid}/cwd`).startsWith(`${folder}/`);
  } catch {
    return false;
  }
}
