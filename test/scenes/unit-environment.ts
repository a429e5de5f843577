import { readFileSync } from "node:fs";
import { join } from "node:path";

const root = join(import.meta.dirname, "..", "..");

/** What systemd gives the daemon. */
export function readUnitEnvironment(): Readonly<Record<string, string>> {
  const unit = readFileSync(join(root, "systemd/provender.service"), "utf8");
  const [, variables = ""] = /^Environment=(.*)$/m.exec(unit) ?? [];
  return Object.fromEntries(
    variables
      .split(" ")
      .map((variable) => variable.split("="))
      .filter((pair) => pair.length === 2),
  ) as Readonly<Record<string, string>>;
}
