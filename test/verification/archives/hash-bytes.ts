import { mkdtemp, open, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { hashPackage } from "../../../src/verification/archives/package-hash.ts";
import type { ZipPart } from "./zip-bytes.ts";

export const limits = { entries: 100, expandedBytes: 1 << 24, ratio: 2000 };

export const text = "#!/bin/sh\n";
export const executable: ZipPart = {
  name: "terraform-provider-null_v1.0.0_x5",
  content: text,
  deflate: true,
};

/** The h1 of an archive with these bytes, read from a file as everywhere. */
export async function hashBytes(
  bytes: Buffer,
  within = limits,
): Promise<string> {
  const directory = await mkdtemp(join(tmpdir(), "package-hash-"));
  await using stack = new AsyncDisposableStack();
  stack.defer(() => rm(directory, { recursive: true }));
  const path = join(directory, "package.zip");
  await writeFile(path, bytes);
  const file = stack.use(await open(path));
  return await hashPackage({ fd: file.fd, size: bytes.length }, within);
}
