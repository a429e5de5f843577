import type { FileHandle } from "node:fs/promises";

/** A file's content at one moment: another text after anything was written to it, or another file took its name. */
export type BlobIdentity = string & { readonly __brand: "blob-identity" };

interface BlobState {
  readonly identity: BlobIdentity;
  /** Bytes. */
  readonly size: number;
  readonly isFile: boolean;
}

export async function readBlobState(handle: FileHandle): Promise<BlobState> {
  const found = await handle.stat({ bigint: true });
  const { dev, ino, size, mtimeNs, ctimeNs } = found;
  return {
    identity: `${dev} ${ino} ${size} ${mtimeNs} ${ctimeNs}` as BlobIdentity,
    size: Number(size),
    isFile: found.isFile(),
  };
}
