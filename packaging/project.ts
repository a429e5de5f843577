import { readdir } from "node:fs/promises";
import { join } from "node:path";

/** The folder of this project. */
export const root = join(import.meta.dirname, "..");

/** All files below a folder, sorted by name. */
export async function listFiles(folder: string): Promise<readonly string[]> {
  const found = await readdir(folder, { recursive: true, withFileTypes: true });
  return found
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name))
    .sort();
}
