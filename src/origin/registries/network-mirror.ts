import { z } from "zod";
import { formatArchiveName } from "../../address/archive-name.ts";
import {
  type PackageHash,
  parsePackageHash,
  parseSha256,
  type Sha256,
} from "../../address/hash.ts";
import {
  formatPlatform,
  parsePlatform,
  type Platform,
} from "../../address/platform.ts";
import {
  formatProviderAddress,
  type ProviderAddress,
} from "../../address/provider-address.ts";
import { isVersion, newestFirst, type Version } from "../../address/version.ts";
import { failure } from "../../errors/index.ts";
import type { OriginLimits } from "../guard/origin-settings.ts";
import type { HttpClient, OriginArchive } from "../http/http-client.ts";
import { unusable } from "../http/http-failure.ts";
import {
  anObject,
  checkCount,
  checkHashes,
  checkShape,
  mostPlatforms,
  resolve,
} from "./answer-shape.ts";
import type { OriginChecksums, ProviderOrigin } from "./provider-origin.ts";
import { absentOn404 } from "./provider-registry.ts";
import {
  bareVersions,
  type OriginPackage,
  type OriginVersions,
} from "./registry-answers.ts";

/** Finds the SHA-256 of an archive by its content, where that is known from earlier. */
type RecallDigest = (
  release: { readonly provider: ProviderAddress; readonly version: Version },
  platform: Platform,
  packageHashes: readonly PackageHash[],
) => Promise<Sha256 | undefined>;

/** An archive that starts to arrive, with the hashes of its content that it must have one of. */
interface UnnamedArchive extends OriginArchive {
  readonly packageHashes: readonly PackageHash[];
}

/** An origin that speaks the provider network mirror protocol: digests without signatures. */
export class NetworkMirror implements ProviderOrigin {
  readonly source = "network-mirror";
  readonly #http: HttpClient;
  readonly #base: URL;
  readonly #limits: OriginLimits;
  readonly #recall: RecallDigest;

  /** `base` ends in a slash. */
  constructor(
    http: HttpClient,
    base: URL,
    limits: OriginLimits,
    recall: RecallDigest,
  ) {
    this.#http = http;
    this.#base = base;
    this.#limits = limits;
    this.#recall = recall;
  }

  /** "List Available Versions". */
  async listVersions(
    address: ProviderAddress,
    signal: AbortSignal,
  ): Promise<OriginVersions> {
    const subject = formatProviderAddress(address);
    const answer = await this.#ask(address, subject, "index.json", signal);
    return parseMirrorIndex(answer.url, answer.value, this.#limits.versions);
  }

  async findPackage(
    address: ProviderAddress,
    version: Version,
    platform: Platform,
    signal: AbortSignal,
  ): Promise<OriginPackage> {
    const archives = await this.#listArchives(address, version, signal);
    const found = pick(address, version, platform, archives);
    return asPackage(address, version, found, archives);
  }

  async findAnyPackage(
    address: ProviderAddress,
    version: Version,
    _: readonly Platform[] | undefined,
    signal: AbortSignal,
  ): Promise<OriginPackage> {
    const archives = await this.#listArchives(address, version, signal);
    const found = archives.find(isNamed) ?? archives[0];
    if (found !== undefined)
      return asPackage(address, version, found, archives);
    throw failure("not-found", `${formatProviderAddress(address)} ${version}`);
  }

  fetchChecksums({ checksums }: OriginPackage): Promise<OriginChecksums> {
    const document =
      checksums.kind === "reported" ? checksums.document : new Uint8Array();
    const { source } = this;
    return Promise.resolve({ source, document, signature: undefined });
  }

  async openArchive(
    { downloadUrl }: Pick<OriginPackage, "downloadUrl">,
    signal: AbortSignal,
    address: ProviderAddress,
  ): Promise<OriginArchive> {
    const subject = formatProviderAddress(address);
    return this.#http.openArchive(downloadUrl, signal, subject);
  }

  /** The archive itself, for one that nothing names but its content. Throws not-found. */
  async openUnnamed(
    address: ProviderAddress,
    version: Version,
    platform: Platform,
    signal: AbortSignal,
  ): Promise<UnnamedArchive> {
    const archives = await this.#listArchives(address, version, signal);
    const { url, packageHashes } = pick(address, version, platform, archives);
    const subject = formatProviderAddress(address);
    const archive = await this.#http.openArchive(url, signal, subject);
    return { ...archive, packageHashes };
  }

  /** "List Available Installation Packages". */
  async #listArchives(
    address: ProviderAddress,
    version: Version,
    signal: AbortSignal,
  ): Promise<readonly MirroredArchive[]> {
    const subject = `${formatProviderAddress(address)} ${version}`;
    const name = `${version}.json`;
    const { url, value } = await this.#ask(address, subject, name, signal);
    const archives = parseMirrorVersion(url, value);
    const release = { provider: address, version };
    return Promise.all(
      archives.map(async (archive) => {
        const { platform, packageHashes } = archive;
        const sha256 =
          archive.sha256 ??
          (await this.#recall(release, platform, packageHashes));
        return { ...archive, sha256 };
      }),
    );
  }

  /** Fetches a document of one provider; `subject` names its subject. */
  async #ask(
    address: ProviderAddress,
    subject: string,
    name: string,
    signal: AbortSignal,
  ): ReturnType<HttpClient["fetchJson"]> {
    const provider = formatProviderAddress(address);
    const url = new URL(`${provider}/${name}`, this.#base);
    return absentOn404(subject, () =>
      this.#http.fetchJson(url, signal, undefined, provider),
    );
  }
}

function pick(
  address: ProviderAddress,
  version: Version,
  platform: Platform,
  archives: readonly MirroredArchive[],
): MirroredArchive {
  const name = formatPlatform(platform);
  const found = archives.find((one) => formatPlatform(one.platform) === name);
  if (found !== undefined) return found;
  const subject = `${formatProviderAddress(address)} ${version}`;
  throw failure("not-found", `${subject} for ${name}`);
}

function isNamed({ sha256 }: MirroredArchive): boolean {
  return sha256 !== undefined;
}

/**
 * Describes the package under the protocol's own file names, so that a digest
 * names one package.
 */
function asPackage(
  address: ProviderAddress,
  version: Version,
  found: MirroredArchive,
  archives: readonly MirroredArchive[],
): OriginPackage {
  const nameOf = ({ platform }: MirroredArchive) =>
    formatArchiveName(address, version, platform);
  const lines = archives
    .filter(isNamed)
    .map((one) => `${one.sha256}  ${nameOf(one)}\n`);
  return {
    filename: nameOf(found),
    downloadUrl: found.url,
    shasum: found.sha256,
    places: new Map(
      archives.flatMap(({ sha256, url }) =>
        sha256 === undefined ? [] : [[sha256, url] as const],
      ),
    ),
    checksums: { kind: "reported", document: Buffer.from(lines.join("")) },
    signingKeys: [],
    keyLabels: [],
    protocols: [],
    reported: new Map(
      archives.map(({ platform, packageHashes }) => [
        formatPlatform(platform),
        { packageHashes, size: undefined },
      ]),
    ),
  };
}

/** Package as described by a network mirror, not verified yet. */
interface MirroredArchive {
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
function parseMirrorIndex(
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
function parseMirrorVersion(
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
