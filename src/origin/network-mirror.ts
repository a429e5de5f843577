import { formatArchiveName } from "../address/archive-name.ts";
import { formatPlatform, type Platform } from "../address/platform.ts";
import {
  formatProviderAddress,
  type ProviderAddress,
} from "../address/provider-address.ts";
import type { Version } from "../address/version.ts";
import { NotFound } from "../errors.ts";
import type { HttpClient, OriginArchive } from "./http-client.ts";
import {
  parseMirrorIndex,
  parseMirrorVersion,
  type MirroredArchive,
} from "./mirror-answers.ts";
import type { OriginLimits } from "./origin-settings.ts";
import type { OriginChecksums, ProviderOrigin } from "./provider-origin.ts";
import { absentOn404 } from "./provider-registry.ts";
import type { OriginPackage, OriginVersions } from "./registry-answers.ts";

/** An origin that speaks the provider network mirror protocol: digests without signatures. */
export class NetworkMirror implements ProviderOrigin {
  readonly source = "network-mirror";
  readonly #http: HttpClient;
  readonly #base: URL;
  readonly #limits: OriginLimits;

  /** `base` ends in a slash. */
  constructor(http: HttpClient, base: URL, limits: OriginLimits) {
    this.#http = http;
    this.#base = base;
    this.#limits = limits;
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
    const name = formatPlatform(platform);
    const archives = await this.#listArchives(address, version, signal);
    const found = archives.find(
      (archive) => formatPlatform(archive.platform) === name,
    );
    if (found !== undefined)
      return asPackage(address, version, found, archives);
    const subject = `${formatProviderAddress(address)} ${version}`;
    throw new NotFound(`${subject} for ${name}`);
  }

  async findAnyPackage(
    address: ProviderAddress,
    version: Version,
    _: readonly Platform[] | undefined,
    signal: AbortSignal,
  ): Promise<OriginPackage> {
    const archives = await this.#listArchives(address, version, signal);
    const [found] = archives;
    if (found !== undefined)
      return asPackage(address, version, found, archives);
    throw new NotFound(`${formatProviderAddress(address)} ${version}`);
  }

  fetchChecksums({ checksums }: OriginPackage): Promise<OriginChecksums> {
    const document =
      checksums.kind === "reported" ? checksums.document : new Uint8Array();
    const { source } = this;
    return Promise.resolve({ source, document, signature: undefined });
  }

  async openArchive(
    found: OriginPackage,
    signal: AbortSignal,
    address?: ProviderAddress,
  ): Promise<OriginArchive> {
    const subject = address && formatProviderAddress(address);
    return this.#http.openArchive(found.downloadUrl, signal, subject);
  }

  /** "List Available Installation Packages". */
  async #listArchives(
    address: ProviderAddress,
    version: Version,
    signal: AbortSignal,
  ): Promise<readonly MirroredArchive[]> {
    const subject = `${formatProviderAddress(address)} ${version}`;
    const name = `${version}.json`;
    const answer = await this.#ask(address, subject, name, signal);
    return parseMirrorVersion(answer.url, answer.value);
  }

  /** A document of one provider; `subject` names what it speaks of. */
  #ask(
    address: ProviderAddress,
    subject: string,
    name: string,
    signal: AbortSignal,
  ) {
    const provider = formatProviderAddress(address);
    const url = new URL(`${provider}/${name}`, this.#base);
    const { originJson } = this.#limits;
    return absentOn404(subject, () =>
      this.#http.fetchJson(url, signal, originJson, provider),
    );
  }
}

/** The names are the protocol's own, whatever the mirror calls its files, so that a digest speaks for one package. */
function asPackage(
  address: ProviderAddress,
  version: Version,
  found: MirroredArchive,
  archives: readonly MirroredArchive[],
): OriginPackage {
  const nameOf = ({ platform }: MirroredArchive) =>
    formatArchiveName(address, version, platform);
  const lines = archives.map((one) => `${one.sha256}  ${nameOf(one)}\n`);
  return {
    filename: nameOf(found),
    downloadUrl: found.url,
    shasum: found.sha256,
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
