import pLimit from "p-limit";
import { z } from "zod";
import { parsePackageHash, type PackageHash } from "../../address/hash.ts";
import { formatPlatform, parsePlatform } from "../../address/platform.ts";
import { formatProviderAddress } from "../../address/provider-address.ts";
import { isVersion, newestFirst } from "../../address/version.ts";
import { failure, isFailure } from "../../errors/index.ts";
import { wantToken } from "../inputs/mirror-token.ts";
import type { HttpClient } from "../../origin/http/http-client.ts";
import {
  anObject,
  checkCount,
  checkHashes,
  mostPlatforms,
} from "../../origin/registries/answer-shape.ts";
import {
  formatRelease,
  type ReleaseAddress,
} from "../../mirror/releases/release.ts";
import {
  hashMirroredArchive,
  type ArchiveReaders,
  type MirroredArchive,
} from "./mirrored-archive.ts";
import type { LockableRelease, LockSource } from "./lock.ts";

const index = z.object({ versions: z.record(z.string(), z.unknown()) });

const archive = z.object({
  url: z.string(),
  hashes: z.array(z.string()).default([]),
});

/**
 * Archives by OS_ARCH. `computed`, which only this program publishes, is the h1
 * that the mirror computed itself.
 */
const document = z.object({
  archives: z.record(z.string(), archive),
  computed: z.record(z.string(), z.string()).default({}),
});

const countedDocument = z.object({
  archives: anObject,
  computed: anObject.optional(),
});

type VersionDocument = z.infer<typeof document>;

/** Archives that are read at once. */
const atOnce = 4;

/** Asks a mirror for what lies at a path below `base`. */
export function readerOf(
  http: Pick<HttpClient, "fetchJson">,
  base: URL,
  signal: AbortSignal,
) {
  return async <T>(
    path: string,
    read: (url: URL, value: unknown) => T,
  ): Promise<T> => {
    const asked = http.fetchJson(new URL(path, base), signal);
    const { url, value } = await asked.catch((error: unknown) => {
      throw isFailure(error, "origin-credentials")
        ? wantToken(base, error)
        : error;
    });
    return read(url, value);
  };
}

/**
 * A running mirror at `base`, the folder of its network mirror protocol. Its `zh:` count as they do for clients.
 * An h1 is taken from no mirror that does not say that it computed it: the archive is read and hashed here instead.
 */
export function lockFromMirror(
  readers: ArchiveReaders,
  base: URL,
  signal: AbortSignal,
): LockSource {
  const turn = pLimit(atOnce);
  const ask = readerOf(readers.http, base, signal);
  return {
    listVersions: async (provider) => {
      const path = `${formatProviderAddress(provider)}/index.json`;
      const { versions } = await ask(path, readIndex);
      return newestFirst(Object.keys(versions).filter(isVersion));
    },
    findRelease: async (address) => {
      const path = documentPath(address);
      const from = new URL(path, base);
      const read = (url: string, one: Omit<MirroredArchive, "url">) => {
        const resolved = URL.parse(url, from.href) ?? from;
        const archive = { ...one, url: resolved };
        return turn(() => hashMirroredArchive(readers, archive, signal));
      };
      return asRelease(address, await ask(path, readVersionDocument), read);
    },
  };
}

/** Returns the path of VERSION.json, below the base of a network mirror. */
function documentPath({ provider, version }: ReleaseAddress): string {
  return `${formatProviderAddress(provider)}/${version}.json`;
}

function readIndex(url: URL, value: unknown): z.infer<typeof index> {
  return readShape(url, index, value);
}

/**
 * Parses VERSION.json. The counts are checked first, since checking each
 * missing archive would take seconds.
 */
function readVersionDocument(url: URL, value: unknown): VersionDocument {
  const counted = readShape(url, countedDocument, value);
  for (const byPlatform of [counted.archives, counted.computed ?? {}]) {
    const { length } = Object.keys(byPlatform);
    checkCount(url, length, mostPlatforms, "platforms");
  }
  for (const one of Object.values(counted.archives)) checkHashes(url, one);
  return readShape(url, document, value);
}

function readShape<T>(url: URL, shape: z.ZodType<T>, value: unknown): T {
  const parsed = shape.safeParse(value);
  if (parsed.success) return parsed.data;
  const reason = "it is not a document of the network mirror protocol";
  throw failure("origin-answer", url.href, reason, { cause: parsed.error });
}

function asRelease(
  address: ReleaseAddress,
  { archives, computed }: VersionDocument,
  read: (
    url: string,
    archive: Omit<MirroredArchive, "url">,
  ) => Promise<PackageHash>,
): LockableRelease {
  const all = Object.values(archives).flatMap(({ hashes }) => hashes);
  const found = new Map<string, Promise<PackageHash>>();
  const find = async (name: string) => {
    const subject = `${formatRelease(address)} for ${name}`;
    const listed = archives[name];
    if (listed === undefined) throw failure("not-found", subject);
    const own = computed[name];
    return own === undefined
      ? read(listed.url, { subject, hashes: listed.hashes })
      : parsePackageHash(own);
  };
  return {
    archiveHashes: all.filter((hash) => hash.startsWith("zh:")),
    platforms: Object.keys(archives).map(parsePlatform),
    findPackageHash: (platform) => {
      const name = formatPlatform(platform);
      const finding = found.get(name) ?? find(name);
      found.set(name, finding);
      return finding;
    },
  };
}
