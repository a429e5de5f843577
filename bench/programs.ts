import { accessSync, constants } from "node:fs";
import { delimiter, join } from "node:path";

/** Programs that are measured against, or that measure. */
export type Program = "nginx" | "terraform" | "unzip" | "sha256sum" | "wrk";

// nginx is where only administrators' PATH leads.
const folders = [...(process.env.PATH ?? "").split(delimiter), "/usr/sbin"];

/** The path of a program, or undefined when it is not installed. */
export function findProgram(name: Program): string | undefined {
  return folders.map((folder) => join(folder, name)).find(isExecutable);
}

/** Returns the path of an installed program; throws without one. */
export function programPath(name: Program): string {
  const path = findProgram(name);
  if (path === undefined) throw new Error(`${name} is not installed`);
  return path;
}

function isExecutable(path: string): boolean {
  try {
    accessSync(path, constants.X_OK);
    return true;
  } catch {
    return false;
  }
}
