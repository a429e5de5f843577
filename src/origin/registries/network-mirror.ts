import { formatArchiveName } from "../../address/archive-name.ts";
import { formatPlatform, type Platform } from "../../address/platform.ts";
import {
  formatProviderAddress,
  type ProviderAddress,
} from "../../address/provider-address.ts";
import type { PackageHash, Sha256 } from "../../address/hash.ts";
import type { Version } from "../../address/version.ts";
import { failure } from "../../errors/index.ts";
import type { HttpClient, OriginArchive } from "../http/http-client.ts";
import {
  parseMirrorIndex,
  parseMirrorVersion,
  type MirroredArchive,
} from "./mirror-answers.ts";
import type { OriginLimits } from "../guard/origin-settings.ts";
import type { OriginChecksums, ProviderOrigin } from "./provider-origin.ts";
import { absentOn404 } from "./provider-registry.ts";
import type { OriginPackage, OriginVersions } from "./registry-answers.ts";

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
