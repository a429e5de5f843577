import { mkdtemp, open, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import answer from "../../../src/verification/archives/archive-worker.ts";
import { moduleLimits } from "../../../src/verification/archives/limits.ts";
import type { OpenArchive } from "../../../src/verification/archives/open-archive.ts";

export const limits = {
  ...moduleLimits,
  entries: 1000,
  expandedBytes: 1 << 24,
};

/** Bytes in a file, as archives are read everywhere. */
export async function withArchive<T>(
  bytes: Buffer,
  use: (archive: OpenArchive) => Promise<T>,
): Promise<T> {
  const directory = await mkdtemp(join(tmpdir(), "archive-"));
  await using stack = new AsyncDisposableStack();
  stack.defer(() => rm(directory, { recursive: true }));
  const path = join(directory, "archive");
  await writeFile(path, bytes);
  const file = stack.use(await open(path));
  return await use({ fd: file.fd, size: bytes.length });
}

export const packageLimits = { ...limits, ratio: 2000, harmlessBytes: 0 };

/** The h1 of an archive with these bytes, read from a file as everywhere, or why it has none. */
export function hashBytes(
  bytes: Buffer,
  limits = packageLimits,
): Promise<string> {
  return withArchive(bytes, async (archive) => {
    const { hash, refused } = await answer({ archive, limits });
    return hash ?? `refused: ${refused}`;
  });
}
