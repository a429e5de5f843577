import { read } from "node:fs";
import { promisify } from "node:util";

/** An archive that its owner keeps open; any thread of the process may read through the descriptor. */
export interface OpenArchive {
  readonly fd: number;
  readonly size: number;
}

const readAt = promisify(read);
const pieceBytes = 1 << 20;

/** `length` bytes at `position`, which must lie inside the archive; a file that ends early is an I/O error (EIO). */
export async function readBytes(
  archive: OpenArchive,
  position: number,
  length: number,
): Promise<Buffer> {
  const bytes = Buffer.allocUnsafe(length);
  let filled = 0;
  while (filled < length) {
    const { bytesRead } = await readAt(
      archive.fd,
      bytes,
      filled,
      length - filled,
      position + filled,
    );
    if (bytesRead === 0) throw endedEarly(archive, position + filled);
    filled += bytesRead;
  }
  return bytes;
}

/** The same as a sequence of pieces of at most 1 MiB. */
export async function* readPieces(
  archive: OpenArchive,
  position: number,
  length: number,
): AsyncGenerator<Buffer> {
  for (let done = 0; done < length; done += pieceBytes)
    yield await readBytes(
      archive,
      position + done,
      Math.min(pieceBytes, length - done),
    );
}

function endedEarly(archive: OpenArchive, position: number): Error {
  return Object.assign(
    new Error(
      `The archive ended after ${position} of ${archive.size} bytes: look at the disk it is on.`,
    ),
    { code: "EIO", syscall: "read" },
  );
}
