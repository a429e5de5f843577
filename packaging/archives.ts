import { createHash } from "node:crypto";
import { createReadStream } from "node:fs";
import { gzipSync } from "node:zlib";
import { run, type Source } from "./project.ts";

/** Writes a tar of a folder that depends on names, modes and contents alone. */
export async function writeTar(
  folder: string,
  file: string,
  { epoch }: Pick<Source, "epoch">,
  names: readonly string[] = ["."],
): Promise<void> {
  await run("tar", [
    "--create",
    `--file=${file}`,
    `--directory=${folder}`,
    "--format=gnu",
    "--sort=name",
    `--mtime=@${epoch}`,
    "--owner=0",
    "--group=0",
    "--numeric-owner",
    ...names,
  ]);
}

/** In hexadecimal. */
export async function sha256(file: string): Promise<string> {
  const hash = createHash("sha256");
  for await (const chunk of createReadStream(file))
    hash.update(chunk as Buffer);
  return hash.digest("hex");
}

/** gzip, without a name or the time that it would write. */
export function pack(content: string | Buffer, level = 9): Buffer {
  return gzipSync(content, { level });
}
