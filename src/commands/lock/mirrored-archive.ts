import { createHash } from "node:crypto";
import { mkdtemp, open, rm, type FileHandle } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import {
  formatArchiveHash,
  parseSha256,
  type PackageHash,
  type Sha256,
} from "../../address/hash.ts";
import { failure, type Failure, isFailure } from "../../errors/index.ts";
import type { HttpClient } from "../../origin/http/http-client.ts";
import type { ArchiveThreads } from "../../verification/archives/threads.ts";

/** Connections and threads for reading archives of a running mirror. */
export interface ArchiveReaders {
  readonly http: Pick<HttpClient, "fetchJson" | "openArchive">;
  readonly hashing: Pick<ArchiveThreads, "hash">;
}

/** Archive as its mirror describes it; `subject` is for errors. */
export interface MirroredArchive {
  readonly subject: string;
  readonly url: URL;
  /** `zh:` and `h1:`. */
  readonly hashes: readonly string[];
}

/**
 * Computes the h1 of an archive from the bytes that the mirror sends. They must match the mirror's `zh:`, or an `h1:`
 * where it publishes no `zh:`.
 */
export async function hashMirroredArchive(
  { http, hashing }: ArchiveReaders,
  archive: MirroredArchive,
  signal: AbortSignal,
): Promise<PackageHash> {
  if (archive.hashes.length === 0)
    throw failure(
      "origin-answer",
      `${archive.url.origin}${archive.url.pathname}`,
      "the mirror tells no hash that it could be compared with",
    );
  const { body } = await http.openArchive(archive.url, signal);
  await using file = await openNameless();
  const sum = createHash("sha256");
  const size = await keepBody(body, file, (chunk) => sum.update(chunk));
  expectBytes(archive, parseSha256(sum.digest("hex")));
  try {
    const found = await hashing.hash({ fd: file.fd, size });
    expectContent(archive, found);
    return found;
  } catch (error) {
    if (!isFailure(error, "archive-unhashable")) throw error;
    const { subject } = archive;
    throw failure("archive-unhashable", subject, error.reason, {
      cause: error,
    });
  }
}

/** A file that no other process can open and that is gone with its handle, however this process ends. */
export async function openNameless(): Promise<FileHandle> {
  try {
    const folder = await mkdtemp(join(tmpdir(), "provender-"));
    try {
      return await open(join(folder, "archive"), "wx+", 0o600);
    } finally {
      await rm(folder, { recursive: true });
    }
  } catch (error) {
    throw asInput(error);
  }
}

/** Returns the number of bytes. */
export async function keepBody(
  body: AsyncIterable<Uint8Array>,
  file: FileHandle,
  onChunk: (chunk: Uint8Array) => void = () => undefined,
): Promise<number> {
  let size = 0;
  for await (const chunk of body) {
    await file.writeFile(chunk).catch((error: unknown) => {
      throw asInput(error);
    });
    onChunk(chunk);
    size += chunk.length;
  }
  return size;
}

function expectBytes({ subject, hashes }: MirroredArchive, got: Sha256): void {
  const [expected] = archiveHashesIn(hashes);
  if (expected !== undefined && !hashes.includes(formatArchiveHash(got)))
    throw failure("archive-digest", subject, expected.slice("zh:".length), got);
}

/**
 * Requires the content to match where the mirror names no digest of the file.
 */
function expectContent(
  { subject, hashes }: MirroredArchive,
  found: PackageHash,
): void {
  if (archiveHashesIn(hashes).length > 0 || hashes.includes(found)) return;
  throw failure("archive-digest", subject, hashes.join(" or "), found);
}

function archiveHashesIn(hashes: readonly string[]): readonly string[] {
  return hashes.filter((hash) => hash.startsWith("zh:"));
}

function asInput(error: unknown): Failure<"input"> {
  const { code = "unknown" } = error as NodeJS.ErrnoException;
  const problem = `an archive cannot be kept there while it is read (${code})`;
  return failure("input", tmpdir(), problem, "make room, or set TMPDIR", {
    cause: error,
  });
}
