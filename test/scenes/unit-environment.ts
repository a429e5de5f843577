import { readFileSync } from "node:fs";
import { join } from "node:path";
import { parseEnv } from "node:util";

const root = join(import.meta.dirname, "..", "..");

/** Reads the environment that systemd gives the daemon. */
export function readUnitEnvironment(): Readonly<Record<string, string>> {
  const unit = readFileSync(join(root, "systemd/provender.service"), "utf8");
  const [, variables = ""] = /^Environment=(.*)$/m.exec(unit) ?? [];
  return parseEnv(variables.replaceAll(" ", "\n")) as Record<string, string>;
}
