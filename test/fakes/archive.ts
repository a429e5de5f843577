import { createCipheriv, hash } from "node:crypto";
import { once } from "node:events";
import yazl from "yazl";

export interface ArchiveOptions {
  readonly type: string;
  readonly version: string;
  readonly os: string;
  readonly arch: string;
  /** Bytes of the executable; without it, it is a script of one line. */
  readonly size?: number | undefined;
  /** Other bytes for the same names. */
  readonly seed?: string | number | undefined;
  /**
   * Content of the executable: `random` does not compress and is stored (the
   * default), `half` compresses to about half and is deflated.
   */
  readonly content?: "random" | "half" | undefined;
  /** Names of empty entries behind the executable; one that ends in a slash is a folder. */
  readonly beside?: readonly string[] | undefined;
}

/** A provider archive, and what is known of it without reading it again; equal options give equal bytes. */
export async function makeArchive(options: ArchiveOptions) {
  const name = `terraform-provider-${options.type}_v${options.version}`;
  const executable = makeExecutable(options);
  const bytes = await zip(name, executable, options);
  return {
    bytes,
    sha256: digestOf(bytes),
    /** As in dependency lock files, computed from the executable. */
    h1: hashOf([[name, executable]]),
  };
}

/** Hash1 of golang.org/x/mod/sumdb/dirhash over files in any order. */
export function hashOf(files: readonly (readonly [string, Buffer])[]): string {
  const lines = files
    .toSorted(([a], [b]) => Buffer.compare(Buffer.from(a), Buffer.from(b)))
    .map(([name, content]) => `${digestOf(content)}  ${name}\n`);
  return `h1:${hash("sha256", lines.join(""), "base64")}`;
}

async function zip(
  name: string,
  executable: Buffer,
  { content, beside = [] }: ArchiveOptions,
): Promise<Buffer> {
  const file = new yazl.ZipFile();
  const mtime = new Date("2024-01-01T00:00:00Z");
  const dated = { mtime, forceDosTimestamp: true };
  const packed = { ...dated, mode: 0o100755, compress: content === "half" };
  file.addBuffer(executable, name, packed);
  for (const entry of beside)
    if (entry.endsWith("/")) file.addEmptyDirectory(entry, dated);
    else file.addBuffer(Buffer.alloc(0), entry, { ...dated, compress: false });
  // Flowing, since reading would copy a large content twice more.
  const pieces: Buffer[] = [];
  file.outputStream.on("data", (piece: Buffer) => pieces.push(piece));
  file.end();
  await once(file.outputStream, "end");
  return Buffer.concat(pieces);
}

function makeExecutable(options: ArchiveOptions): Buffer {
  const { type, version, os, arch, size, seed = 0 } = options;
  const identity = [type, version, os, arch, seed].join(" ");
  if (size === undefined) return Buffer.from(`#!/bin/sh\n# ${identity}\n`);
  const random = keystream(identity, size);
  return options.content === "half" ? halved(random) : random;
}

/**
 * A pseudo-random block again and again: quick to make, and still beyond the
 * window of deflate. Its odd length tells when whole pages changed places.
 */
function keystream(identity: string, size: number): Buffer {
  const key = hash("sha256", identity, "buffer");
  const cipher = createCipheriv("aes-256-ctr", key, Buffer.alloc(16));
  const block = cipher.update(Buffer.alloc(Math.min(size, 1024 * 1024 - 3)));
  return Buffer.alloc(size, block);
}

function halved(random: Buffer): Buffer {
  const page = 4096;
  for (let start = page; start < random.length; start += 2 * page)
    random.fill(0, start, Math.min(start + page, random.length));
  return random;
}

export const digestOf = (bytes: Uint8Array) => hash("sha256", bytes);
