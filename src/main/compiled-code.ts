import { existsSync, lstatSync, mkdirSync } from "node:fs";
import { enableCompileCache } from "node:module";
import { homedir } from "node:os";
import { join } from "node:path";

/**
 * Lets this process and its threads take compiled code from what an earlier one
 * left in the user's own cache folder, which halves the time of a short command.
 * A folder that another user could write to would let them run code here, so
 * then nothing is kept.
 */
export function keepCompiledCode(): void {
  if (process.env.NODE_COMPILE_CACHE !== undefined) return;
  try {
    const cache = process.env.XDG_CACHE_HOME ?? join(homedir(), ".cache");
    const folder = join(cache, "provender-code");
    makeFolders([cache, folder]);
    if (!isOwn(folder)) return;
    enableCompileCache(folder);
    // Threads know of it from here only.
    process.env.NODE_COMPILE_CACHE = folder;
  } catch {
    // A user without a home, or without a writable one, does without.
  }
}

/** A home that does not exist is not made. */
function makeFolders(folders: readonly string[]): void {
  for (const folder of folders)
    if (!existsSync(folder)) mkdirSync(folder, { mode: 0o700 });
}

function isOwn(folder: string): boolean {
  const found = lstatSync(folder);
  const isMine = found.uid === process.getuid?.();
  return found.isDirectory() && isMine && (found.mode & 0o022) === 0;
}
