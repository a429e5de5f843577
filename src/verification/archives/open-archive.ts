import { read } from "node:fs";
import { promisify } from "node:util";

/** An archive that its owner keeps open; any thread of the process may read through the descriptor. */
export interface OpenArchive {
  readonly fd: number;
  readonly size: number;
}

const readAt = promisify(read);
const pieceBytes = 1 << 19;

/** `length` bytes at `position`, which must lie inside the archive; a file that ends early is an I/O error (EIO). */
export async function readBytes(
  archive: OpenArchive,
  position: number,
  length: number,
): Promise<Buffer> {
  const bytes = Buffer.allocUnsafe(length);
  await fill(archive, position, bytes);
  return bytes;
}

/**
 * The same as a sequence of pieces of at most 512 KiB. A piece is good until the
 * one after the next is asked for: what each takes would stay for long.
 */
export async function* readPieces(
  archive: OpenArchive,
  position: number,
  length: number,
): AsyncGenerator<Buffer> {
  const size = Math.min(pieceBytes, length);
  const buffers = [Buffer.allocUnsafe(size), Buffer.allocUnsafe(size)] as const;
  for (let done = 0, turn = 0; done < length; done += size, turn++) {
    const piece = buffers[turn % 2 === 0 ? 0 : 1].subarray(0, length - done);
    await fill(archive, position + done, piece);
    yield piece;
  }
}

async function fill(
  archive: OpenArchive,
  position: number,
  bytes: Buffer,
): Promise<void> {
  let filled = 0;
  while (filled < bytes.length) {
    const { bytesRead } = await readAt(
      archive.fd,
      bytes,
      filled,
      bytes.length - filled,
      position + filled,
    );
    if (bytesRead === 0) {
      const place = `${position + filled} of ${archive.size} bytes`;
      const reason = `The archive ended after ${place}: look at the disk it is on.`;
      throw Object.assign(new Error(reason), { code: "EIO", syscall: "read" });
    }
    filled += bytesRead;
  }
}
