import { createHash } from "node:crypto";
import { mkdtemp, open, rm, type FileHandle } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import pLimit from "p-limit";
import { z } from "zod";
import { formatChecksumsName } from "../../address/archive-name.ts";
import { parsePackageHash, type PackageHash } from "../../address/hash.ts";
import { formatProviderAddress } from "../../address/provider-address.ts";
import { failure, isFailure } from "../../errors/index.ts";
import {
  checksumsSubject,
  formatRelease,
  type ReleaseAddress,
} from "../../mirror/releases/release.ts";
import type { OriginLimits } from "../../origin/guard/origin-settings.ts";
import type { HttpClient } from "../../origin/http/http-client.ts";
import { isRefused } from "../../origin/http/http-failure.ts";
import {
  checkCount,
  checkShape,
  mostPlatforms,
} from "../../origin/registries/answer-shape.ts";
import { absentOn404 } from "../../origin/registries/provider-registry.ts";
import type { ArchiveThreads } from "../../verification/archives/threads.ts";
import { parseChecksumsDocument } from "../../verification/checksums-document.ts";
import { askMirror } from "../named-mirror.ts";

const archiveShape = z.object({
  url: z.string(),
  // One of each scheme.
  hashes: z.array(z.string()).max(64).default([]),
});

/** `computed`, which only this program publishes, is the h1 by OS_ARCH that the mirror computed itself. */
const versionDocument = z.object({
  archives: z.record(z.string(), archiveShape),
  computed: z.record(z.string(), z.string()).optional(),
});

type Archive = z.infer<typeof archiveShape> & { readonly subject: string };

/** One version of a provider, as a mirror has it. */
export interface MirroredRelease {
  /** `zh:` of every file that the publisher signed, or of every archive where only those are known. */
  readonly archiveHashes: readonly string[];
  /** OS_ARCH of all its archives. */
  readonly platforms: readonly string[];
  findPackageHash(platform: string): Promise<PackageHash>;
}

/** Archives that are read at once. */
const atOnce = 4;

/**
 * A running mirror, asked as its clients ask it. Its `zh:` count as they do for them. An h1 is taken from no mirror that
 * does not say that it computed it: the archive is read and hashed here instead.
 */
export interface AskedMirror {
  readonly http: HttpClient;
  /** The base of its network mirror protocol. */
  readonly base: URL;
  readonly limits: OriginLimits;
  readonly hashing: Pick<ArchiveThreads, "hash">;
  readonly signal: AbortSignal;
}

const turn = pLimit(atOnce);

export async function findRelease(
  mirror: AskedMirror,
  address: ReleaseAddress,
): Promise<MirroredRelease> {
  const name = formatProviderAddress(address.provider);
  const { url, value } = await askDocument(
    mirror,
    formatRelease(address),
    `${name}/${address.version}.json`,
  );
  const { archives, computed } = checkShape(url, versionDocument, value);
  const platforms = Object.keys(archives);
  checkCount(url, platforms.length, mostPlatforms, "platforms");
  const listed = Object.values(archives).flatMap(({ hashes }) =>
    archiveHashesIn(hashes),
  );
  const signed =
    computed === undefined ? [] : await findSigned(mirror, name, address);
  return {
    archiveHashes: [...new Set([...listed, ...signed])],
    platforms,
    findPackageHash: async (platform) => {
      const subject = `${formatRelease(address)} for ${platform}`;
      const own = computed?.[platform];
      if (own !== undefined) return parsePackageHash(own);
      const archive = archives[platform];
      if (archive === undefined) throw failure("not-found", subject);
      return turn(() => hashArchive(mirror, url, { ...archive, subject }));
    },
  };
}

/** Clients lock each line of SHA256SUMS, under any name. */
async function findSigned(
  { http, base, limits, signal }: AskedMirror,
  name: string,
  address: ReleaseAddress,
): Promise<readonly string[]> {
  const file = formatChecksumsName(address.provider, address.version);
  const path = `../v1/providers/${name}/${address.version}/${file}`;
  try {
    const url = new URL(path, base);
    const { bytes } = await http.fetchDocument(url, limits.checksums, signal);
    const subject = { ...checksumsSubject(address), isOwn: () => true };
    const lines = parseChecksumsDocument(subject, bytes);
    return [...lines.values()].map((sha256) => `zh:${sha256}`);
  } catch (error) {
    // Nothing is signed that a client could check.
    if (isRefused(error)) return [];
    throw error;
  }
}

/** Computes the h1 of an archive from the bytes that the mirror sends, which must match its `zh:`. */
async function hashArchive(
  { http, hashing, signal }: AskedMirror,
  document: URL,
  { subject, hashes, url: written }: Archive,
): Promise<PackageHash> {
  const url = URL.parse(written, document.href) ?? document;
  const [zh] = archiveHashesIn(hashes);
  if (zh === undefined)
    throw failure(
      "origin-answer",
      `${url.origin}${url.pathname}`,
      "the mirror tells no zh: that it could be compared with",
    );
  const { body } = await http.openArchive(url, signal);
  await using file = await openNameless().catch(noRoom);
  const sum = createHash("sha256");
  let size = 0;
  for await (const chunk of body) {
    await file.writeFile(chunk).catch(noRoom);
    sum.update(chunk);
    size += chunk.length;
  }
  const sha256 = sum.digest("hex");
  if (!hashes.includes(`zh:${sha256}`))
    throw failure("archive-digest", subject, zh.slice(3), sha256);
  return await hashing.hash({ fd: file.fd, size }).catch((cause: unknown) => {
    throw isFailure(cause, "archive-unhashable")
      ? failure("archive-unhashable", subject, cause.reason, { cause })
      : cause;
  });
}

async function askDocument(
  { http, base, signal }: AskedMirror,
  subject: string,
  path: string,
) {
  try {
    return await askMirror(http, base, path, signal).catch(
      absentOn404(subject),
    );
  } catch (error) {
    if (!isRefused(error)) throw error;
    const remedy = `ask it why with "provender explain ${subject.replace(" ", "@")}"`;
    const problem = `${base.host} refuses it`;
    throw failure("input", subject, problem, remedy, { cause: error });
  }
}

function archiveHashesIn(hashes: readonly string[]): readonly string[] {
  return hashes.filter((hash) => hash.startsWith("zh:"));
}

/** A file that no other process can open and that is gone with its handle, however this process ends. */
async function openNameless(): Promise<FileHandle> {
  const folder = await mkdtemp(join(tmpdir(), "provender-"));
  try {
    return await open(join(folder, "archive"), "wx+", 0o600);
  } finally {
    await rm(folder, { recursive: true });
  }
}

function noRoom(cause: unknown): never {
  const { code = "unknown" } = cause as NodeJS.ErrnoException;
  const problem = `an archive cannot be kept there while it is read (${code})`;
  const remedy = "make room, or set TMPDIR";
  throw failure("input", tmpdir(), problem, remedy, { cause });
}
