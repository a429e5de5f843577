import { z } from "zod";
import {
  parsePackageHash,
  parseSha256,
  type PackageHash,
  type Sha256,
} from "../../address/hash.ts";
import { parsePlatform, type Platform } from "../../address/platform.ts";
import { isVersion } from "../../address/version.ts";
import {
  checkShape,
  resolve,
  unusable,
  type OriginVersions,
} from "./registry-answers.ts";

/** What a network mirror says of one package, not yet believed. */
export interface MirroredArchive {
  readonly platform: Platform;
  readonly url: URL;
  /** Its `zh:`; undefined when only the content is named. */
  readonly sha256: Sha256 | undefined;
  readonly packageHashes: readonly PackageHash[];
}

/** Publishers have about 15. */
const mostPlatforms = 256;

/** Counted before each entry is looked at, which takes a hundred times as long. */
function listNames(url: URL, listed: object, most: number, what: string) {
  const names = Object.keys(listed);
  if (names.length > most)
    throw unusable(url, `it lists more than ${most} ${what}`);
  return names;
}

const anObject = z.custom<object>(
  (value) =>
    typeof value === "object" && value !== null && !Array.isArray(value),
  "expected an object",
);

const indexAnswer = z.object({ versions: anObject });

const countedAnswer = z.object({ archives: anObject });
const mostHashes = 1_000;

const versionAnswer = z.object({
  archives: z.record(
    z.string(),
    z.object({ url: z.string(), hashes: z.array(z.string()).nullish() }),
  ),
});

/** `index.json`; versions that are not semantic versions are left out, as clients do. */
export function parseMirrorIndex(
  url: URL,
  value: unknown,
  most: number,
): OriginVersions {
  const { versions: listed } = checkShape(url, indexAnswer, value);
  const names = listNames(url, listed, most, "versions");
  const versions = names
    .filter(isVersion)
    .map((version) => ({ version, protocols: [], platforms: undefined }));
  return { versions, warnings: [] };
}

/**
 * `VERSION.json`, by platform. What has several `zh:`, or no hash at all, is left
 * out: nothing says which archive is meant. Throws OriginAnswerUnusable when that leaves nothing.
 */
export function parseMirrorVersion(
  url: URL,
  value: unknown,
): readonly MirroredArchive[] {
  const counted = checkShape(url, countedAnswer, value);
  listNames(url, counted.archives, mostPlatforms, "platforms");
  for (const archive of Object.values(counted.archives) as unknown[])
    if (countHashes(archive) > mostHashes)
      throw unusable(url, `an archive has more than ${mostHashes} hashes`);
  const { archives } = checkShape(url, versionAnswer, value);
  const byName = Object.entries(archives).toSorted(([a], [b]) =>
    a < b ? -1 : 1,
  );
  const read = byName.flatMap(([name, archive]) =>
    readArchive(url, name, archive),
  );
  if (read.length === 0 && Object.keys(archives).length > 0)
    throw unusable(url, "it has no archive with one zh: or with an h1: hash");
  return read;
}

function countHashes(archive: unknown): number {
  const { hashes } = (archive ?? {}) as { readonly hashes?: unknown };
  return Array.isArray(hashes) ? hashes.length : 0;
}

function readArchive(
  base: URL,
  name: string,
  { url, hashes }: z.infer<typeof versionAnswer>["archives"][string],
): readonly MirroredArchive[] {
  const digests = new Set(readEach(hashes, "zh:", readDigest));
  const [sha256] = digests;
  const [platform] = readEach([name], "", parsePlatform);
  const packageHashes = readEach(hashes, "h1:", parsePackageHash);
  const isNamed = sha256 !== undefined || packageHashes.length > 0;
  if (!isNamed || digests.size > 1 || platform === undefined) return [];
  return [{ platform, url: resolve(base, url), sha256, packageHashes }];
}

function readDigest(hash: string): Sha256 {
  return parseSha256(hash.slice("zh:".length));
}

/** Of the texts that start with `prefix`, those that can be read. */
function readEach<T>(
  texts: readonly string[] | null | undefined,
  prefix: string,
  read: (text: string) => T,
): readonly T[] {
  return (texts ?? [])
    .filter((text) => text.startsWith(prefix))
    .flatMap((text) => {
      try {
        return [read(text)];
      } catch {
        return [];
      }
    });
}
