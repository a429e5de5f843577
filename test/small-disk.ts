import { spawnSync } from "node:child_process";
import { scratch } from "./running-mirror.ts";

/** Small file system of its own. */
export interface SmallDisk {
  readonly directory: string;
  unmount(): void;
}

/** `options` as of tmpfs(5), such as `size=64m` or `nr_inodes=200`. */
export function mountSmallDisk(options: string): SmallDisk | undefined {
  const directory = scratch("small-disk");
  const args = ["-t", "tmpfs", "-o", options, "tmpfs", directory];
  if (spawnSync("mount", args).status !== 0) return undefined;
  return {
    directory,
    unmount: () => void spawnSync("umount", ["-l", directory]),
  };
}
