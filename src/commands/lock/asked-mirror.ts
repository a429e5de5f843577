import { createHash } from "node:crypto";
import { mkdtemp, open, rm, type FileHandle } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import pLimit from "p-limit";
import * as z from "zod";
import { formatChecksumsName } from "../../address/archive-name.ts";
import { parsePackageHash, type PackageHash } from "../../address/hash.ts";
import { formatProviderAddress } from "../../address/provider-address.ts";
import { failure, isFailure } from "../../errors/index.ts";
import {
  checksumsSubject,
  formatRelease,
  type ReleaseAddress,
} from "../../mirror/releases/release.ts";
import type { HttpClient } from "../../origin/http/http-client.ts";
import { isRefused } from "../../origin/http/http-failure.ts";
import {
  checkCount,
  checkShape,
  mostPlatforms,
} from "../../origin/registries/answer-shape.ts";
import { absentOn404 } from "../../origin/registries/provider-registry.ts";
import { packageLimits } from "../../verification/archives/limits.ts";
import { ArchiveThreads } from "../../verification/archives/threads.ts";
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

/** One version of a provider, as a mirror has it. */
export type MirroredRelease = Awaited<ReturnType<AskedMirror["findRelease"]>>;

/** Archives that are read at once. */
const atOnce = 4;

/** Bytes of a SHA256SUMS. */
const largestChecksums = 1024 * 1024;

/**
 * A running mirror, asked as its clients ask it. Its `zh:` count as they do for them. An h1 is taken from no mirror that
 * does not say that it computed it: the archive is read and hashed here instead.
 */
export class AskedMirror implements AsyncDisposable {
  readonly #http: HttpClient;
  readonly #base: URL;
  readonly #signal: AbortSignal;
  readonly #turn = pLimit(atOnce);
  readonly #hashing = new ArchiveThreads(packageLimits);

  /** `base` is that of its network mirror protocol. */
  constructor(http: HttpClient, base: URL, signal: AbortSignal) {
    this.#http = http;
    this.#base = base;
    this.#signal = signal;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await Promise.all([this.#http.close(), this.#hashing.close()]);
  }

  async findRelease(address: ReleaseAddress) {
    const { url, value } = await this.#askDocument(address);
    const { archives, computed } = checkShape(url, versionDocument, value);
    const platforms = Object.keys(archives);
    checkCount(url, platforms.length, mostPlatforms, "platforms");
    const listed = Object.values(archives).flatMap(({ hashes }) =>
      hashes.filter((hash) => hash.startsWith("zh:")),
    );
    const signed =
      computed === undefined ? [] : await this.#findSigned(address);
    return {
      /** `zh:` of every file that the publisher signed, or of every archive where only those are known. */
      archiveHashes: [...new Set([...listed, ...signed])],
      /** OS_ARCH of all its archives. */
      platforms,
      findPackageHash: async (platform: string): Promise<PackageHash> => {
        const subject = `${formatRelease(address)} for ${platform}`;
        const own = computed?.[platform];
        if (own !== undefined) return parsePackageHash(own);
        const archive = archives[platform];
        if (archive === undefined) throw failure("not-found", subject);
        const from = URL.parse(archive.url, url.href) ?? url;
        return this.#turn(() =>
          this.#hashArchive(subject, from, archive.hashes),
        );
      },
    };
  }

  async #askDocument(address: ReleaseAddress) {
    const subject = formatRelease(address);
    const path = `${formatProviderAddress(address.provider)}/${address.version}.json`;
    try {
      const url = new URL(path, this.#base);
      return await askMirror(this.#http, url, this.#signal).catch(
        absentOn404(subject),
      );
    } catch (error) {
      if (!isRefused(error)) throw error;
      const remedy = `ask it why with "provender explain ${subject.replace(" ", "@")}"`;
      const problem = `${this.#base.host} refuses it`;
      throw failure("input", subject, problem, remedy, { cause: error });
    }
  }

  /** Clients lock each line of SHA256SUMS, under any name. */
  async #findSigned(address: ReleaseAddress): Promise<readonly string[]> {
    const { provider, version } = address;
    const file = formatChecksumsName(provider, version);
    const path = `../v1/providers/${formatProviderAddress(provider)}/${version}/${file}`;
    try {
      const { bytes } = await this.#http.fetchDocument(
        new URL(path, this.#base),
        largestChecksums,
        this.#signal,
      );
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
  async #hashArchive(
    subject: string,
    url: URL,
    hashes: readonly string[],
  ): Promise<PackageHash> {
    const zh = hashes.find((hash) => hash.startsWith("zh:"));
    if (zh === undefined)
      throw failure(
        "origin-answer",
        `${url.origin}${url.pathname}`,
        "the mirror tells no zh: that it could be compared with",
      );
    const { body } = await this.#http.openArchive(url, this.#signal);
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
    const hashing = this.#hashing.hash({ fd: file.fd, size });
    return await hashing.catch((cause: unknown) => {
      throw isFailure(cause, "archive-unhashable")
        ? failure("archive-unhashable", subject, cause.reason, { cause })
        : cause;
    });
  }
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
