import * as z from "zod";
import { isSha256, type Sha256 } from "../../address/hash.ts";
import {
  findArchivePlatform,
  formatArchiveName,
} from "../../address/archive-name.ts";
import {
  findPlatform,
  formatPlatform,
  type Platform,
} from "../../address/platform.ts";
import type { ProviderAddress } from "../../address/provider-address.ts";
import { isVersion, type Version } from "../../address/version.ts";
import { unusable } from "../http/http-failure.ts";
import { checkCount, checkShape, resolve } from "./answer-shape.ts";

export interface OriginVersion {
  readonly version: Version;
  readonly protocols: readonly string[];
  /** Undefined when the registry lists none. */
  readonly platforms: readonly Platform[] | undefined;
  /** When it was published, as the registry claims; of modules alone. */
  readonly published?: Date | undefined;
}

export interface OriginVersions {
  readonly versions: readonly OriginVersion[];
  readonly warnings: readonly string[];
  /** Parts of the answer that are not as the protocol has them, and were left out. */
  readonly malformed?: number;
}

/** Package as described by an origin, not verified yet. */
export interface OriginPackage {
  readonly filename: string;
  readonly downloadUrl: URL;
  readonly shasum: Sha256;
  /** URLs of archives by digest, as far as the answer has them. */
  readonly places: ReadonlyMap<Sha256, URL>;
  /** Where SHA256SUMS and its signature are. */
  readonly checksums: {
    readonly url: URL;
    readonly signatureUrl: URL | undefined;
  };
  /** ASCII-armored, in the registry's order. */
  readonly signingKeys: readonly string[];
  /** One for each of `signingKeys`. */
  readonly keyLabels: readonly KeyLabel[];
  readonly protocols: readonly string[];
}

const texts = z.array(z.string()).nullish();

/** Left out when it is no text, or longer than any label or partner's signature (UTF-16 code units). */
const label = z
  .string()
  .max(16 * 1024)
  .optional()
  .catch(undefined);

const keyLabel = z.object({
  key_id: label,
  /** ASCII-armored, by the registry's partner key over the signing key; empty or undefined for none. */
  trust_signature: label,
  source: label,
  source_url: label,
});

/** Facts that a registry gives with a signing key, unsigned, by its own names; clients show them. */
export type KeyLabel = z.infer<typeof keyLabel>;

/** Counted before each of it is read, which takes a hundred times as long. */
const list = z.custom<readonly unknown[]>(Array.isArray, "expected a list");

const versionsAnswer = z.object({
  versions: list,
  warnings: texts.catch(null),
});

/** Protocols and platforms are hints, and read for themselves. */
const versionEntry = z.object({
  version: z.string(),
  protocols: z.unknown().optional(),
  platforms: z.unknown().optional(),
});

const platformEntry = z.object({ os: z.string(), arch: z.string() });

/** Protocols of a version; there are six. */
const mostProtocols = 16;
/** Protocols and platforms in lists that differ, of all versions together; publishers have a handful of lists. */
const mostNames = 50_000;

/** A version of the plugin protocol, as clients read it. */
const protocolVersion = z
  .string()
  .max(16)
  .regex(/^\d+(?:\.\d+){0,2}$/);

const packageAnswer = z.object({
  os: z.string(),
  arch: z.string(),
  filename: z.string(),
  download_url: z.string(),
  shasum: z.string(),
  shasums_url: z.string(),
  shasums_signature_url: z.string().nullish(),
  protocols: z
    .array(z.string().max(16))
    .max(mostProtocols)
    .nullish()
    .catch(null),
  signing_keys: z.object({ gpg_public_keys: list.nullish() }).nullish(),
});

/** One that cannot be read is none, and takes no other away. */
const signingKey = keyLabel.extend({ ascii_armor: z.string().catch("") });

/** Keys of a release. */
const mostKeys = 1_000;
const mostWarnings = 100;
const mostWarningLetters = 64 * 1024;

/**
 * In the registry's order. Versions that are not semantic versions are left out, as clients do; a repeated one counts once. What is
 * malformed is left out for itself, and takes nothing else away.
 */
export function parseVersions(
  url: URL,
  value: unknown,
  most: number,
): OriginVersions {
  const answer = checkShape(url, versionsAnswer, value);
  checkCount(url, answer.versions.length, most, "versions");
  const warnings = answer.warnings ?? [];
  checkCount(url, warnings.length, mostWarnings, "warnings");
  const letters = warnings.reduce((sum, { length }) => sum + length, 0);
  checkCount(url, letters, mostWarningLetters, "letters of warnings");
  // Equal lists of versions are one, so that a long answer is small once it is read.
  const lists = new Map<
    string,
    Pick<OriginVersion, "protocols" | "platforms">
  >();
  let names = 0;
  const versions = new Map<Version, OriginVersion>();
  let malformed = 0;
  const readEach = <T>(shape: z.ZodType<T>, values: unknown): readonly T[] => {
    const each = Array.isArray(values) ? (values as readonly unknown[]) : [];
    const read: T[] = [];
    for (const one of each) {
      const { data } = shape.safeParse(one);
      if (data === undefined) malformed += 1;
      else read.push(data);
    }
    if ((values ?? each) !== each) malformed += 1;
    return read;
  };
  const entries = readEach(versionEntry, answer.versions);
  if (entries.length === 0 && malformed > 0)
    throw unusable(url, "none of the versions that it lists can be read");
  for (const entry of entries) {
    const { version, protocols, platforms } = entry;
    if (!isVersion(version) || versions.has(version)) continue;
    const spoken = readEach(protocolVersion, protocols);
    checkCount(url, spoken.length, mostProtocols, "protocols");
    const built = readEach(platformEntry, platforms).map(formatPlatform);
    const key = `${spoken.join()} ${built.join()}`;
    let shared = lists.get(key);
    if (shared === undefined) {
      names += spoken.length + built.length;
      checkCount(url, names, mostNames, "protocols and platforms that differ");
      const readable: Platform[] = [];
      for (const name of built) {
        const platform = findPlatform(name);
        if (platform !== undefined) readable.push(platform);
      }
      shared = {
        protocols: spoken,
        platforms: readable.length === 0 ? undefined : readable,
      };
      lists.set(key, shared);
    }
    versions.set(version, { version, ...shared });
  }
  return { versions: [...versions.values()], warnings, malformed };
}

/**
 * "Find a Provider Package". Throws origin-answer unless the answer is for exactly this platform, and its file is named
 * for provider, version and platform.
 */
export function parsePackage(
  url: URL,
  value: unknown,
  address: ProviderAddress,
  version: Version,
  platform: Platform,
): OriginPackage {
  const answer = checkShape(url, packageAnswer, value);
  const listed = answer.signing_keys?.gpg_public_keys ?? [];
  checkCount(url, listed.length, mostKeys, "keys");
  const keys = checkShape(url, z.array(signingKey), listed);
  const signingKeys: string[] = [];
  const keyLabels: KeyLabel[] = [];
  for (const { ascii_armor, ...keyLabel } of keys) {
    signingKeys.push(ascii_armor);
    keyLabels.push(keyLabel);
  }
  const { filename } = answer;
  const name = formatPlatform(platform);
  expectSame(url, "platform", name, formatPlatform(answer));
  const named = findArchivePlatform(address, version, filename);
  const usual = formatArchiveName(address, version, platform);
  if (named === undefined || formatPlatform(named) !== name)
    expectSame(url, "filename", usual, filename);
  const downloadUrl = resolve(url, answer.download_url);
  const shasum = answer.shasum.toLowerCase();
  if (!isSha256(shasum))
    throw unusable(url, "its shasum is not 64 hexadecimal digits");
  return {
    filename,
    downloadUrl,
    shasum,
    places: new Map([[shasum, downloadUrl]]),
    checksums: {
      url: resolve(url, answer.shasums_url),
      signatureUrl: answer.shasums_signature_url
        ? resolve(url, answer.shasums_signature_url)
        : undefined,
    },
    signingKeys,
    keyLabels,
    protocols: answer.protocols ?? [],
  };
}

function expectSame(url: URL, what: string, expected: string, got: string) {
  if (got !== expected)
    throw unusable(url, `its ${what} is "${got}", expected "${expected}"`);
}
