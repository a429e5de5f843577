import { z } from "zod";
import {
  parsePackageHash,
  parseSha256,
  type PackageHash,
  type Sha256,
} from "../../address/hash.ts";
import { parsePlatform, type Platform } from "../../address/platform.ts";
import { isVersion, newestFirst } from "../../address/version.ts";
import { unusable } from "../http/http-failure.ts";
import {
  anObject,
  checkCount,
  checkHashes,
  checkShape,
  mostPlatforms,
  resolve,
} from "./answer-shape.ts";
import { bareVersions, type OriginVersions } from "./registry-answers.ts";

/** Package as described by a network mirror, not verified yet. */
export interface MirroredArchive {
  readonly platform: Platform;
  readonly url: URL;
  /** Its `zh:`; undefined when only the content is named. */
  readonly sha256: Sha256 | undefined;
  readonly packageHashes: readonly PackageHash[];
}

const indexAnswer = z.object({ versions: anObject });

const countedAnswer = z.object({ archives: anObject });

const versionAnswer = z.object({
  archives: z.record(
    z.string(),
    z.object({ url: z.string(), hashes: z.array(z.string()).nullish() }),
  ),
});

/** `index.json`, newest first; versions that are not semantic versions are left out, as clients do. */
export function parseMirrorIndex(
  url: URL,
  value: unknown,
  most: number,
): OriginVersions {
  const { versions: listed } = checkShape(url, indexAnswer, value);
  const names = Object.keys(listed);
  checkCount(url, names.length, most, "versions");
  return bareVersions(newestFirst(names.filter(isVersion)));
}

/**
 * Parses `VERSION.json`, by platform. An archive with several `zh:`, or without
 * any hash, is left out as ambiguous. Throws origin-answer when that leaves
 * nothing.
 */
export function parseMirrorVersion(
  url: URL,
  value: unknown,
): readonly MirroredArchive[] {
  const counted = checkShape(url, countedAnswer, value);
  const listed = Object.values(counted.archives) as unknown[];
  checkCount(url, listed.length, mostPlatforms, "platforms");
  for (const archive of listed) checkHashes(url, archive);
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

/** Parses the texts that start with `prefix`, and skips invalid ones. */
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
