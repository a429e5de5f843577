import { readdirSync, readFileSync } from "node:fs";

/** MiB of memory that a process holds, or held at most; Linux only. */
export function memoryOf(pid: number, which: "now" | "peak"): number {
  const status = readFileSync(`/proc/${pid}/status`, "utf8");
  const name = which === "now" ? "VmRSS" : "VmHWM";
  const kib = new RegExp(`^${name}:\\s*(\\d+) kB`, "m").exec(status)?.[1];
  return Number(kib) / 1024;
}

/** Seconds of processor time of a process and its children so far; Linux only. */
export function processorTimeOf(pid: number): number {
  const folder = `/proc/${pid}/task`;
  const times = readdirSync(folder).map((task) => {
    const nanoseconds = readFileSync(`${folder}/${task}/schedstat`, "utf8");
    return Number(nanoseconds.split(" ")[0]) / 1e9;
  });
  const children = readFileSync(`${folder}/${pid}/children`, "utf8");
  const below = children.split(" ").filter((child) => child.trim() !== "");
  return [
    ...times,
    ...below.map((child) => processorTimeOf(Number(child))),
  ].reduce((sum, time) => sum + time, 0);
}
