import type { ChildProcess } from "node:child_process";
import { once } from "node:events";

/** Ends a child of this process by its own id and waits until it is gone. */
export async function endChild(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  const exit = once(child, "exit");
  child.kill("SIGTERM");
  await exit;
}
