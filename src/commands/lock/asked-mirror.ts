import { createHash } from "node:crypto";
import { mkdtemp, open, rm, type FileHandle } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import pLimit from "p-limit";
import { z } from "zod";
import { formatChecksumsName } from "../../address/archive-name.ts";
import { parsePackageHash, type PackageHash } from "../../address/hash.ts";
import { formatModuleAddress } from "../../address/module-address.ts";
import { parseModuleSource } from "../../address/module-source.ts";
import {
  formatProviderAddress,
  type ProviderAddress,
} from "../../address/provider-address.ts";
import { isVersion, newestFirst, type Version } from "../../address/version.ts";
import { failure, type Failure, isFailure } from "../../errors/index.ts";
import {
  formatModuleRelease,
  type ModuleReleaseAddress,
} from "../../mirror/modules/release.ts";
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
import { ModuleRegistry } from "../../origin/registries/module-registry.ts";
import { absentOn404 } from "../../origin/registries/provider-registry.ts";
import type { OpenArchive } from "../../verification/archives/open-archive.ts";
import type { ArchiveThreads } from "../../verification/archives/threads.ts";
import { parseChecksumsDocument } from "../../verification/checksums-document.ts";
import type { FoundModule, OpenModule } from "../inputs/modules.ts";
import { readModulePackage } from "../packages/module-packages.ts";
import { chooseVersions, newestOf } from "../packages/version-choice.ts";

const index = z.object({ versions: z.record(z.string(), z.unknown()) });

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
export class AskedMirror {
  readonly #http: HttpClient;
  /** The base of its network mirror protocol. */
  readonly #base: URL;
  readonly #limits: OriginLimits;
  readonly #hashing: Pick<ArchiveThreads, "hash">;
  readonly #signal: AbortSignal;
  readonly #turn = pLimit(atOnce);
  readonly #modules = new Map<string, Promise<FoundModule>>();

  constructor(
    http: HttpClient,
    base: URL,
    limits: OriginLimits,
    hashing: Pick<ArchiveThreads, "hash">,
    signal: AbortSignal,
  ) {
    this.#http = http;
    this.#base = base;
    this.#limits = limits;
    this.#hashing = hashing;
    this.#signal = signal;
  }

  /** Newest first. */
  async listVersions(provider: ProviderAddress): Promise<readonly Version[]> {
    const name = formatProviderAddress(provider);
    const { url, value } = await this.#ask(name, `${name}/index.json`);
    const { versions } = checkShape(url, index, value);
    return newestFirst(Object.keys(versions).filter(isVersion));
  }

  async findRelease(address: ReleaseAddress): Promise<MirroredRelease> {
    const name = formatProviderAddress(address.provider);
    const { url, value } = await this.#ask(
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
      computed === undefined ? [] : await this.#findSigned(name, address);
    return {
      archiveHashes: [...new Set([...listed, ...signed])],
      platforms,
      findPackageHash: async (platform) => {
        const subject = `${formatRelease(address)} for ${platform}`;
        const own = computed?.[platform];
        if (own !== undefined) return parsePackageHash(own);
        const archive = archives[platform];
        if (archive === undefined) throw failure("not-found", subject);
        return this.#turn(() => this.#hash(url, { ...archive, subject }));
      },
    };
  }

  /** Clients lock each line of SHA256SUMS, under any name. */
  async #findSigned(
    name: string,
    address: ReleaseAddress,
  ): Promise<readonly string[]> {
    const file = formatChecksumsName(address.provider, address.version);
    const path = `../v1/providers/${name}/${address.version}/${file}`;
    try {
      const { bytes } = await this.#http.fetchDocument(
        new URL(path, this.#base),
        this.#limits.checksums,
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

  /**
   * Computes the h1 of an archive from the bytes that the mirror sends. They must match the mirror's `zh:`, or an `h1:`
   * where it publishes no `zh:`.
   */
  async #hash(document: URL, archive: Archive): Promise<PackageHash> {
    const { subject, hashes } = archive;
    const url = URL.parse(archive.url, document.href) ?? document;
    if (hashes.length === 0)
      throw failure(
        "origin-answer",
        `${url.origin}${url.pathname}`,
        "the mirror tells no hash that it could be compared with",
      );
    return this.#download(url, async (file, sha256) => {
      const [zh] = archiveHashesIn(hashes);
      if (zh !== undefined && !hashes.includes(`zh:${sha256}`))
        throw failure("archive-digest", subject, zh.slice(3), sha256);
      const found = await this.#hashing.hash(file).catch((cause: unknown) => {
        throw isFailure(cause, "archive-unhashable")
          ? failure("archive-unhashable", subject, cause.reason, { cause })
          : cause;
      });
      if (zh === undefined && !hashes.includes(found))
        throw failure("archive-digest", subject, hashes.join(" or "), found);
      return found;
    });
  }

  /** Opens the newest version of a module that the constraint allows; each archive is asked for once. */
  readonly openModule: OpenModule = async (module, constraint, where) => {
    const service = new URL(`../v1/modules/${module.hostname}/`, this.#base);
    const registry = new ModuleRegistry(
      this.#http,
      { findService: () => Promise.resolve(service) },
      this.#limits,
    );
    try {
      const [version] = await chooseVersions(
        formatModuleAddress(module),
        newestOf(constraint),
        where,
        () => registry.listVersions(module, this.#signal),
      );
      const address = { module, version };
      const name = formatModuleRelease(address);
      const found =
        this.#modules.get(name) ?? this.#fetchModule(registry, address);
      this.#modules.set(name, found);
      return await found;
    } catch (error) {
      if (!isFailure(error, "not-found")) throw error;
      return { because: `${this.#base.host} does not have it` };
    }
  };

  async #fetchModule(
    registry: ModuleRegistry,
    address: ModuleReleaseAddress,
  ): Promise<FoundModule> {
    const name = formatModuleRelease(address);
    const { module, version } = address;
    const found = await registry.findLocation(module, version, this.#signal);
    const source = parseModuleSource(name, found.location, found.base.href);
    // Another host is where only clients go.
    if (source.kind !== "archive" || source.url.host !== this.#base.host)
      return { because: `${this.#base.host} sends clients elsewhere for it` };
    return this.#download(source.url, (file) =>
      readModulePackage(name, source, file),
    );
  }

  async #ask(subject: string, path: string) {
    try {
      return await absentOn404(subject, () =>
        askMirror(this.#http, this.#base, path, this.#signal),
      );
    } catch (error) {
      if (!isRefused(error)) throw error;
      const remedy = `ask it why with "provender explain ${subject.replace(" ", "@")}"`;
      const problem = `${this.#base.host} refuses it`;
      throw failure("input", subject, problem, remedy, { cause: error });
    }
  }

  /** Calls `use` with the archive and the SHA-256 of its bytes. */
  async #download<T>(
    url: URL,
    use: (archive: OpenArchive, sha256: string) => Promise<T>,
  ): Promise<T> {
    const { body } = await this.#http.openArchive(url, this.#signal);
    await using file = await openNameless().catch(noRoom);
    const sum = createHash("sha256");
    let size = 0;
    for await (const chunk of body) {
      await file.writeFile(chunk).catch(noRoom);
      sum.update(chunk);
      size += chunk.length;
    }
    return await use({ fd: file.fd, size }, sum.digest("hex"));
  }
}

/** Asks a mirror for the document at a path below `base`. */
export async function askMirror(
  http: Pick<HttpClient, "fetchJson">,
  base: URL,
  path: string,
  signal: AbortSignal,
) {
  try {
    return await http.fetchJson(new URL(path, base), signal);
  } catch (error) {
    throw isFailure(error, "origin-credentials")
      ? wantToken(base, error)
      : error;
  }
}

/** Makes the error of a command whose mirror wants a token, or refuses the one that it got. */
export function wantToken(
  { origin, host }: URL,
  cause?: Failure<"origin-credentials">,
): Failure<"origin-credentials"> {
  const words = cause?.words;
  const name = host.replaceAll("-", "__").replaceAll(".", "_");
  return failure(
    "origin-credentials",
    origin,
    words === undefined
      ? "wants a token, and got none or one that it does not take"
      : `refuses the token that it got because ${words}`,
    `set TF_TOKEN_${name} to one that it knows`,
    words,
    { cause },
  );
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
