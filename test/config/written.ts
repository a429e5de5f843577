import { writeFileSync } from "node:fs";
import { join } from "node:path";
import {
  loadConfiguration,
  type Configuration,
} from "../../src/config/load.ts";
import { scratch } from "../running-mirror.ts";

export const temporaryFolder = () => scratch("config");

export function writeInto(
  folder: string,
  name: string,
  text: string | Uint8Array,
  mode = 0o600,
): string {
  const path = join(folder, name);
  writeFileSync(path, text, { mode });
  return path;
}

/** Loads `yaml` from `FOLDER/provender.yaml`. */
export function load(
  yaml: string,
  env: NodeJS.ProcessEnv = {},
  folder = temporaryFolder(),
): Configuration {
  const file = writeInto(folder, "provender.yaml", yaml);
  return loadConfiguration({ file, env, cwd: "/", home: "/home/someone" });
}

/** The message with which `yaml` is refused, without the folder. */
export function refusal(
  yaml: string,
  env: NodeJS.ProcessEnv = {},
  folder = temporaryFolder(),
): string {
  try {
    load(yaml, env, folder);
  } catch (error) {
    return String(error).replaceAll(`${folder}/`, "");
  }
  throw new Error(`This was accepted:\n${yaml}`);
}
