import { open, type FileHandle } from "node:fs/promises";
import { basename } from "node:path";

/** A file of a log as it was when it was opened. */
export interface LogFile {
  readonly name: string;
  /** 0 for the current file, 1 for the one that moved aside last, and so on. */
  readonly number: number;
  readonly handle: FileHandle;
  /** Bytes. */
  readonly size: number;
}

/** Older files that a log keeps by default. */
export const filesKept = 8;

/** The files of a log that are there, oldest first. What has nothing in it is left out. */
export async function openLogFiles(
  path: string,
  keep: number,
): Promise<readonly LogFile[]> {
  const files: LogFile[] = [];
  for (let number = keep; number >= 0; number--) {
    const file = number === 0 ? path : `${path}.${number}`;
    const handle = await openIfThere(file);
    if (handle === undefined) continue;
    const { size } = await handle.stat();
    if (size > 0) files.push({ name: basename(file), number, handle, size });
    else await handle.close();
  }
  return files;
}

export async function closeLogFiles(files: readonly LogFile[]): Promise<void> {
  await Promise.all(files.map(({ handle }) => handle.close()));
}

async function openIfThere(path: string): Promise<FileHandle | undefined> {
  try {
    return await open(path);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ENOENT") return undefined;
    throw error;
  }
}
