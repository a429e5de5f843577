import { open } from "node:fs/promises";
import type { Sha256 } from "../../address/hash.ts";
import { readBlobState } from "./identity.ts";
import { classifyFileFailure } from "../file-failure.ts";
import { plainFileFlags } from "../plain-file.ts";
import { hashFile } from "./verified-blobs.ts";

/**
 * Hashes the file at `path`. Throws errors that prove nothing about the file,
 * such as too many open files.
 */
export async function inspectBlob(
  path: string,
  sha256: Sha256,
  onPiece: (length: number) => void,
): Promise<"good" | "missing" | { readonly problem: string }> {
  try {
    await using handle = await open(path, plainFileFlags);
    if (!(await readBlobState(handle)).isFile)
      return { problem: "it is not a file" };
    const got = await hashFile(handle, onPiece);
    return got === sha256 ? "good" : { problem: `its SHA-256 is ${got}` };
  } catch (error) {
    const failure = classifyFileFailure(error);
    if (failure === "missing") return failure;
    if (failure !== "broken") throw error;
    return { problem: (error as Error).message };
  }
}
