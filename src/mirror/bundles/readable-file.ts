import { constants } from "node:fs";
import { open } from "node:fs/promises";

/** A file that is read at any place, here or by the command that named it. */
export interface ReadableFile {
  /** Bytes; undefined for something other than a file. */
  readonly size: number | undefined;
  /** Reads from `position` on; returns the number of bytes, 0 at the end. */
  read(buffer: Uint8Array, position: number): Promise<number>;
  close(): Promise<void>;
}

/** Opens a file of this process. */
export async function openFile(path: string): Promise<ReadableFile> {
  // Not waiting for the writer of a pipe.
  const handle = await open(path, constants.O_RDONLY | constants.O_NONBLOCK);
  const close = () => handle.close();
  try {
    const stats = await handle.stat();
    return {
      size: stats.isFile() ? stats.size : undefined,
      read: async (buffer, position) =>
        (await handle.read(buffer, 0, buffer.length, position)).bytesRead,
      close,
    };
  } catch (error) {
    await close();
    throw error;
  }
}
