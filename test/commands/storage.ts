import { mkdirSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { scratch, writeConfiguration } from "../running-mirror.ts";

/** A configuration file for commands, with a storage directory of its own. */
export interface CommandStorage {
  readonly configFile: string;
  readonly directory: string;
}

export function makeStorage(
  config: Readonly<Record<string, unknown>>,
  directory = scratch("store"),
): CommandStorage {
  const configFile = join(scratch("config"), "provender.yaml");
  const storage = { directory, ...(config.storage as object | undefined) };
  writeConfiguration(configFile, { ...config, storage });
  return { configFile, directory };
}

/** A directory with these files, by path, which nobody else can read. */
export function makeDirectory(
  files: Readonly<Record<string, string | Buffer>>,
): string {
  const directory = scratch("configuration");
  for (const [path, text] of Object.entries(files)) {
    const file = join(directory, path);
    mkdirSync(dirname(file), { recursive: true });
    writeFileSync(file, text, { mode: 0o600 });
  }
  return directory;
}
