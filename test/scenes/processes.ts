import { readdirSync, readFileSync, readlinkSync } from "node:fs";

/** True where /proc tells what runs. */
export const canSeeProcesses = process.platform === "linux";

/** The processes that work below a folder, by their number. */
export function processesBelow(folder: string): readonly number[] {
  return readdirSync("/proc")
    .filter((name) => /^\d+$/.test(name))
    .map(Number)
    .filter((pid) => worksBelow(pid, folder));
}

/** The most memory that a process held so far, in bytes; 0 for one that is gone. */
export function peakOf(pid: number): number {
  try {
    const status = readFileSync(`/proc/${pid}/status`, "utf8");
    return Number(/VmHWM:\s+(\d+) kB/.exec(status)?.[1] ?? 0) * 1024;
  } catch {
    return 0;
  }
}

function worksBelow(pid: number, folder: string): boolean {
  try {
    return readlinkSync(`/proc/${pid}/cwd`).startsWith(`${folder}/`);
  } catch {
    return false;
  }
}
