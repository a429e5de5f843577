import { isUtf8 } from "node:buffer";
import { closeSync, fstatSync, openSync, readSync } from "node:fs";
import { resolve } from "node:path";
import { failure } from "../errors/index.ts";
import type { Surroundings } from "./environment.ts";

interface Source {
  readonly path: string;
  readonly text: string;
}

const largestFile = 1024 * 1024;

/** Configuration of the packaged service. */
const systemFile = "/etc/provender/config.yaml";

/**
 * --config, else $PROVENDER_CONFIG, else ./provender.yaml if it exists, else the system's file if it exists.
 * Throws a configuration error for a file that was asked for, or exists, and cannot be read.
 */
export function readSource(
  option: string | undefined,
  from: Surroundings,
  ofSystem = systemFile,
): Source | undefined {
  const variable = from.env.PROVENDER_CONFIG;
  if (option !== undefined) return readAsked(option, "--config", from.cwd);
  if (variable) return readAsked(variable, "$PROVENDER_CONFIG", from.cwd);
  return (
    readIfExists(resolve(from.cwd, "provender.yaml")) ?? readIfExists(ofSystem)
  );
}

function readAsked(name: string, by: string, cwd: string): Source {
  const path = resolve(cwd, name);
  return readIfExists(path) ?? refuse(path, `ENOENT, given by ${by}`);
}

function readIfExists(path: string): Source | undefined {
  try {
    return { path, text: readTextFile(path, largestFile).text };
  } catch (error) {
    const reason = reasonOf(error);
    if (reason === "ENOENT" || reason === "ENOTDIR") return undefined;
    return refuse(path, reason, error);
  }
}

function refuse(path: string, reason: string, cause?: unknown): never {
  throw failure(
    "configuration",
    path,
    `the configuration cannot be read (${reason})`,
    "check the path, its permissions and its encoding",
    { cause },
  );
}

/** The UTF-8 text of a file of at most `limit` bytes, be it a pipe, and the permission bits of what was opened. */
export function readTextFile(
  path: string,
  limit: number,
): { readonly text: string; readonly mode: number } {
  const descriptor = openSync(path, "r");
  try {
    const mode = fstatSync(descriptor).mode & 0o777;
    const buffer = Buffer.alloc(limit + 1);
    let filled = 0;
    for (let read = -1; read !== 0; filled += read) {
      if (filled > limit) throw new Error(`more than ${limit} bytes`);
      read = readSync(descriptor, buffer, filled, limit + 1 - filled, null);
    }
    const bytes = buffer.subarray(0, filled);
    if (!isUtf8(bytes)) throw new Error("not UTF-8 text");
    return { text: bytes.toString(), mode };
  } finally {
    closeSync(descriptor);
  }
}

/** The system's word for what went wrong, such as ENOENT, else the message. */
export function reasonOf(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  return (error as NodeJS.ErrnoException).code ?? error.message;
}
