import { dirname, resolve } from "node:path";
import { z } from "zod";
import { failure } from "../errors/index.ts";
import {
  defaultStorageDirectory,
  readSurroundings,
  type Surroundings,
} from "./environment.ts";
import { readTextFile, reasonOf } from "./text-file.ts";
import { parseYaml } from "./yaml-document.ts";

/** The configuration file that was found. */
interface Source {
  readonly path: string;
  readonly text: string;
}

const largestFile = 1024 * 1024;

/** Configuration of the packaged service. */
export const systemFile = "/etc/provender/config.yaml";

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

const directory = z.string().regex(/^[^\0]+$/);

const shape = z
  .looseObject({
    storage: z.looseObject({ directory: directory.optional() }).optional(),
  })
  .nullable();

/**
 * Finds the storage directory in the configuration `file`, of which a command
 * beside a daemon needs nothing else. Undefined for a file with problems, which
 * `loadConfiguration` explains. Throws a configuration error for one that cannot be read.
 */
export function findStorageDirectory(
  file: string | undefined,
): string | undefined {
  const from = readSurroundings();
  const source = readSource(file, from);
  const { value, problems } = parseYaml(source?.text ?? "");
  const parsed = shape.safeParse(value);
  if (problems.length > 0 || !parsed.success) return undefined;
  const named = parsed.data?.storage?.directory;
  if (named === undefined) return defaultStorageDirectory(from);
  return resolve(source ? dirname(source.path) : from.cwd, named);
}
