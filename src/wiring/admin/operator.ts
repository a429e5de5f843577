import {
  lstat,
  readFile,
  readlink,
  rename,
  rm,
  symlink,
} from "node:fs/promises";
import { join } from "node:path";
import { stagingPath, type StoreLayout } from "../../store/layout.ts";

/**
 * Proves the user of this process to the daemon: the owner of a new symbolic
 * link to a nonce of the daemon is who made it, and a link never changes.
 */
export async function proveUser(
  { operators }: StoreLayout,
  nonce: string,
): Promise<void> {
  await symlink(nonce, join(operators, nonce));
}

/**
 * Returns the number of the user that made the link, and removes it. The link is moved where only the daemon can
 * change it before it is looked at.
 */
export async function takeUser(
  layout: StoreLayout,
  nonce: string,
): Promise<number> {
  const path = stagingPath(layout, "operator");
  await rename(join(layout.operators, nonce), path);
  try {
    if ((await readlink(path)) !== nonce) throw new Error("it is another link");
    return (await lstat(path)).uid;
  } finally {
    await rm(path, { force: true, recursive: true });
  }
}

/** Root and the daemon's own user can do all that the daemon can. */
export function isDaemonUser(uid: number): boolean {
  return uid === 0 || uid === process.getuid?.();
}

/**
 * Names an operator for the audit log. Root and the daemon's own user, who can
 * write the log, may name themselves, such as behind sudo.
 */
export async function nameOperator(
  uid: number,
  claimed: string,
): Promise<string> {
  if (isDaemonUser(uid)) return claimed;
  const users = await readFile("/etc/passwd", "utf8").catch(() => "");
  const [name] =
    users
      .split("\n")
      .map((line) => line.split(":"))
      .find(([, , id]) => id === String(uid)) ?? [];
  return name ?? `user ${uid}`;
}
