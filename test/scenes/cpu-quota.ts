import { randomUUID } from "node:crypto";
import { existsSync, mkdirSync, rmdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";

/** Processes that get a part of one core between them, and get it before others, by a control group of the kernel. */
export interface CpuQuota {
  add(pid: number): void;
  /** After its processes have ended. */
  remove(): void;
}

/** Microseconds. */
const period = 100_000;

/**
 * Control groups of the first version and of the second: their folders and
 * files.
 */
const versions = [
  {
    folder: "/sys/fs/cgroup/cpu",
    describe: (quota: number) => ({
      "cpu.cfs_period_us": period,
      "cpu.cfs_quota_us": quota,
      "cpu.shares": 262_144,
    }),
  },
  {
    folder: "/sys/fs/cgroup",
    describe: (quota: number) => ({
      "cpu.max": `${quota} ${period}`,
      "cpu.weight": 10_000,
    }),
  },
] as const;

/** `share`: of one core. Throws the system's error where this process may not. */
export function makeCpuQuota(share: number): CpuQuota {
  const [first, second] = versions;
  const { folder, describe } = existsSync(first.folder) ? first : second;
  const group = join(folder, `provender-${randomUUID()}`);
  const write = (name: string, value: string | number) => {
    writeFileSync(join(group, name), String(value));
  };
  mkdirSync(group);
  const remove = () => {
    rmdirSync(group);
  };
  try {
    for (const [name, value] of Object.entries(describe(share * period)))
      write(name, value);
  } catch (error) {
    remove();
    throw error;
  }
  return { add: (pid) => write("cgroup.procs", pid), remove };
}

/** False, and a loud word on standard error, where this process may not. */
export function canMakeCpuQuota(): boolean {
  try {
    makeCpuQuota(1).remove();
    return true;
  } catch (error) {
    console.error(
      `NOT TESTED with a part of a core: no control groups for processors: ${String(error)}`,
    );
    return false;
  }
}
