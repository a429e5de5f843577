import { existsSync, lstatSync, mkdirSync } from "node:fs";
import { enableCompileCache } from "node:module";
import { homedir } from "node:os";
import { join } from "node:path";

/**
 * Lets this process and its threads take compiled code from what an earlier one
 * left in the user's own cache folder, which halves the time of a short command.
 * A folder that somebody else could write to would let him run code here, so
 * then nothing is kept.
 */
export function keepCompiledCode(): void {
  const cache = process.env.XDG_CACHE_HOME ?? join(homedir(), ".cache");
  const folder = join(cache, "provender-code");
  if (process.env.NODE_COMPILE_CACHE !== undefined || !makeOwn(cache, folder))
    return;
  enableCompileCache(folder);
  // Threads know of it from here only.
  process.env.NODE_COMPILE_CACHE = folder;
}

/** A home that does not exist is not made. */
function makeOwn(cache: string, folder: string): boolean {
  try {
    for (const path of [cache, folder])
      if (!existsSync(path)) mkdirSync(path, { mode: 0o700 });
    const found = lstatSync(folder);
    const isOwn = found.uid === process.getuid?.();
    return found.isDirectory() && isOwn && (found.mode & 0o022) === 0;
  } catch {
    return false;
  }
}
