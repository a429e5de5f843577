import { readFileSync } from "node:fs";
import { join } from "node:path";
import { startServing, type Serving } from "./serving.ts";

/** Starts what the installed unit starts, as its user and with its environment, below a root of its own. */
export function startUnit(root: string): Promise<Serving> {
  const unit = readFileSync(
    join(root, "usr/lib/systemd/system/provender.service"),
    "utf8",
  );
  const read = (key: string) =>
    new RegExp(`^${key}=(.*)$`, "m").exec(unit)?.[1] ?? "";
  const user = `${read("User")}:${read("Group")}`;
  const state = `/var/lib/${read("StateDirectory")}`;
  return startServing("chroot", [
    `--userspec=${user}`,
    root,
    ...["env", "-i", "PATH=/usr/bin:/bin", `HOME=${state}`],
    ...[`STATE_DIRECTORY=${state}`, ...read("Environment").split(" ")],
    ...read("ExecStart").split(" "),
  ]);
}
