import { createHash } from "node:crypto";
import { mkdtemp, open, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { gunzipSync } from "node:zlib";
import { listMembers } from "../../../src/verification/archives/module-archive.ts";
import type { OpenArchive } from "../../../src/verification/archives/open-archive.ts";
import { readZipContent } from "../../../src/verification/archives/zip-content.ts";
import { readZipDirectory } from "../../../src/verification/archives/zip-directory.ts";
import type { Reading } from "./go-reader.ts";

export const limits = { entries: 1000, expandedBytes: 1 << 24, ratio: 200 };

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

/** How the mirror understands a module's archive; rejects for what it refuses. */
export function readOurselves(
  format: "tar.gz" | "zip",
  bytes: Buffer,
): Promise<Reading> {
  return withArchive(bytes, async (archive) => {
    const listed = await listMembers(format, archive, limits);
    const digests =
      format === "zip"
        ? await hashZip(archive)
        : hashTar(gunzipSync(bytes), listed);
    const members = listed.map(({ name, kind, size }, index) => ({
      name: Buffer.from(name).toString("latin1"),
      kind,
      size,
      sha256: digests[index] ?? "",
    }));
    return { members };
  });
}

function hashTar(
  tar: Buffer,
  members: readonly { size: number; contentStart: number }[],
): readonly string[] {
  return members.map(({ size, contentStart }) =>
    createHash("sha256")
      .update(tar.subarray(contentStart, contentStart + size))
      .digest("hex"),
  );
}

async function hashZip(archive: OpenArchive): Promise<readonly string[]> {
  const { entries } = await readZipDirectory(archive, {
    ...limits,
    harmlessBytes: 1 << 20,
  });
  const digests: string[] = [];
  for (const entry of entries) {
    const sha256 = createHash("sha256");
    await readZipContent(archive, entry, (piece) => sha256.update(piece));
    digests.push(sha256.digest("hex"));
  }
  return digests;
}
