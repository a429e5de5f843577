import { open, type FileHandle } from "node:fs/promises";
import { createHash } from "node:crypto";
import { formatArchiveHash, parseSha256 } from "../../address/hash.ts";
import { failure, isFailure } from "../../errors/index.ts";
import { readPieces } from "../../verification/archives/open-archive.ts";
import { hashPackage } from "../../verification/archives/package-hash.ts";
import {
  packageLimits,
  type ArchiveLimits,
} from "../../verification/archives/limits.ts";
import { formatDocument } from "../output/json-document.ts";
import type { Output } from "../output/streams.ts";

interface HashOptions {
  readonly archive: readonly string[];
  readonly json?: boolean;
  readonly limits?: ArchiveLimits;
}

/** Hashes of one archive; `problem` is the reason for a missing one. */
interface HashedArchive {
  readonly archive: string;
  readonly h1: string | null;
  readonly zh: string | null;
  readonly problem?: string;
}

/**
 * `provender hash ARCHIVE...`: a line `h1:…  PATH` and a line `zh:…  PATH` for each archive, or with `json` one document
 * with `{archive, h1, zh, problem?}` of each. Returns the exit status: 1 when a hash is missing, and each such archive is named on standard error.
 */
export async function runHash(
  { archive, json = false, limits = packageLimits }: HashOptions,
  output: Output,
): Promise<number> {
  const hashed: HashedArchive[] = [];
  for (const path of archive) {
    const one = await hashArchive(path, limits);
    if (!json) output.stdout(formatLines(one));
    if (one.problem !== undefined) output.stderr(`${one.problem}\n`);
    hashed.push(one);
  }
  if (json) output.stdout(formatDocument({ archives: hashed }));
  return hashed.some((one) => one.problem !== undefined) ? 1 : 0;
}

function formatLines(hashed: HashedArchive): string {
  return [hashed.h1, hashed.zh]
    .filter((hash) => hash !== null)
    .map((hash) => `${hash}  ${hashed.archive}\n`)
    .join("");
}

async function hashArchive(
  path: string,
  limits: ArchiveLimits,
): Promise<HashedArchive> {
  try {
    await using file = await open(path);
    return await hashOpened(path, file, limits);
  } catch (error) {
    const problem = `${path} cannot be read (${reasonOf(error)}): give the path of a provider package that you may read.`;
    return { archive: path, h1: null, zh: null, problem };
  }
}

async function hashOpened(
  path: string,
  file: FileHandle,
  limits: ArchiveLimits,
): Promise<HashedArchive> {
  const stat = await file.stat();
  if (!stat.isFile()) throw new Error("it is not a file");
  const opened = { fd: file.fd, size: stat.size };
  const sum = createHash("sha256");
  for await (const piece of readPieces(opened, 0, opened.size))
    sum.update(piece);
  const zh = formatArchiveHash(parseSha256(sum.digest("hex")));
  try {
    return { archive: path, h1: await hashPackage(opened, limits), zh };
  } catch (error) {
    if (!isFailure(error, "archive-unhashable")) throw error;
    const problem = failure("archive-unhashable", path, error.reason).message;
    return { archive: path, h1: null, zh, problem };
  }
}

function reasonOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
