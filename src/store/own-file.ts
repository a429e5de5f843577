import { open } from "node:fs/promises";

/**
 * Returns the text of a file with a secret; undefined when there is none.
 * Throws when other users can read it.
 */
export async function readOwnFile(path: string): Promise<string | undefined> {
  try {
    await using file = await open(path);
    const { mode } = await file.stat();
    if ((mode & 0o077) !== 0) throw new Error("others can read it: chmod 600");
    return await file.readFile("utf8");
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ENOENT") return undefined;
    throw error;
  }
}
