import { hashPackage } from "../../../src/verification/archives/package-hash.ts";
import { withArchive } from "./own-reading.ts";
import type { ZipPart } from "./zip-bytes.ts";

export const limits = { entries: 100, expandedBytes: 1 << 24, ratio: 2000 };

export const text = "#!/bin/sh\n";
export const executable: ZipPart = {
  name: "terraform-provider-null_v1.0.0_x5",
  content: text,
  deflate: true,
};

/** The h1 of an archive with these bytes, read from a file as everywhere. */
export function hashBytes(bytes: Buffer, within = limits): Promise<string> {
  return withArchive(bytes, (archive) => hashPackage(archive, within));
}
