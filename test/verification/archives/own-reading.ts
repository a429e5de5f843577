import { hash } from "node:crypto";
import { mkdtemp, open, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { readMembers } from "../../../src/verification/archives/module-archive.ts";
import type { OpenArchive } from "../../../src/verification/archives/open-archive.ts";
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

/** How the mirror reads a module's archive; rejects for what it refuses. */
export function readOurselves(
  format: "tar.gz" | "zip",
  bytes: Buffer,
): Promise<Reading> {
  return withArchive(bytes, async (archive) => {
    const contents: Buffer[][] = [];
    const members = await readMembers(format, archive, limits, (member) => {
      // A zip has a link's target for its content.
      const target = format === "zip" ? member.target : undefined;
      const pieces = [Buffer.from(target ?? "")];
      contents.push(pieces);
      return (piece) => pieces.push(Buffer.from(piece));
    });
    return {
      members: members.map(({ name, kind }, index) => {
        const content = Buffer.concat(contents[index] ?? []);
        return {
          name: Buffer.from(name).toString("latin1"),
          kind,
          size: content.length,
          sha256: hash("sha256", content),
        };
      }),
    };
  });
}
