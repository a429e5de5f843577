import { formatPlatform, type Platform } from "../../address/platform.ts";
import {
  formatProviderAddress,
  type ProviderAddress,
} from "../../address/provider-address.ts";
import type { Version } from "../../address/version.ts";
import { failure, isAbsence, isFailure } from "../../errors/index.ts";
import type { HttpClient, OriginArchive } from "../http/http-client.ts";
import type { OriginLimits } from "../guard/origin-settings.ts";
import { formatPublicUrl } from "../guard/address-guard.ts";
import type { OriginChecksums, ProviderOrigin } from "./provider-origin.ts";
import {
  parsePackage,
  parseVersions,
  type OriginPackage,
  type OriginVersions,
} from "./registry-answers.ts";
import type { ServiceDiscovery } from "./service-discovery.ts";

/** Platforms to try, in this order, when the registry lists none. */
const commonPlatforms: readonly Platform[] = [
  { os: "linux", arch: "amd64" },
  { os: "darwin", arch: "arm64" },
  { os: "windows", arch: "amd64" },
  { os: "linux", arch: "arm64" },
  { os: "darwin", arch: "amd64" },
  { os: "linux", arch: "386" },
  { os: "linux", arch: "arm" },
  { os: "windows", arch: "386" },
  { os: "windows", arch: "arm64" },
  { os: "freebsd", arch: "amd64" },
];

/** An origin that speaks the provider registry protocol. */
export class ProviderRegistry implements ProviderOrigin {
  readonly #http: HttpClient;
  readonly #discovery: ServiceDiscovery;
  readonly #limits: OriginLimits;

  constructor(
    http: HttpClient,
    discovery: ServiceDiscovery,
    limits: OriginLimits,
  ) {
    this.#http = http;
    this.#discovery = discovery;
    this.#limits = limits;
  }

  /** Lists versions ("List Available Versions"). */
  async listVersions(
    address: ProviderAddress,
    signal: AbortSignal,
  ): Promise<OriginVersions> {
    const base = await this.#discovery.findService("providers.v1", signal);
    const path = `${address.namespace}/${address.type}/versions`;
    const subject = formatProviderAddress(address);
    const { url, value } = await this.#http
      .fetchJson(new URL(path, base), signal)
      .catch(absentOn404(subject));
    return parseVersions(url, value, this.#limits.versions);
  }

  /** Finds a package ("Find a Provider Package"). */
  async findPackage(
    address: ProviderAddress,
    version: Version,
    platform: Platform,
    signal: AbortSignal,
  ): Promise<OriginPackage> {
    const base = await this.#discovery.findService("providers.v1", signal);
    const path = `${address.namespace}/${address.type}/${version}/download/${platform.os}/${platform.arch}`;
    const subject = `${formatProviderAddress(address)} ${version} for ${formatPlatform(platform)}`;
    const { url, value } = await this.#http
      .fetchJson(new URL(path, base), signal)
      .catch(absentOn404(subject));
    return parsePackage(url, value, address, version, platform);
  }

  /** Asks for the common platforms first. */
  async findAnyPackage(
    address: ProviderAddress,
    version: Version,
    offered: readonly Platform[] | undefined,
    signal: AbortSignal,
  ): Promise<OriginPackage> {
    const candidates = preferCommon(offered ?? commonPlatforms);
    for (const platform of candidates.slice(0, commonPlatforms.length))
      try {
        return await this.findPackage(address, version, platform, signal);
      } catch (error) {
        if (!isAbsence(error)) throw error;
      }
    throw failure("not-found", `${formatProviderAddress(address)} ${version}`);
  }

  /** SHA256SUMS and its signature, at the same time. */
  async fetchChecksums(
    { checksums }: OriginPackage,
    signal: AbortSignal,
  ): Promise<OriginChecksums> {
    const { url, signatureUrl } = checksums;
    const fetch = (from: URL, most: number) =>
      this.#http
        .fetchDocument(from, most, signal)
        .catch(absentOn404(formatPublicUrl(from)));
    const [document, signature] = await Promise.all([
      fetch(url, this.#limits.checksums),
      signatureUrl && fetch(signatureUrl, this.#limits.signature),
    ]);
    return { document: document.bytes, signature: signature?.bytes };
  }

  openArchive(
    { downloadUrl }: Pick<OriginPackage, "downloadUrl">,
    signal: AbortSignal,
  ): Promise<OriginArchive> {
    return this.#http.openArchive(downloadUrl, signal);
  }
}

function preferCommon(offered: readonly Platform[]): readonly Platform[] {
  const rank = new Map(
    commonPlatforms.map((platform, index) => [formatPlatform(platform), index]),
  );
  const rankOf = (platform: Platform) =>
    rank.get(formatPlatform(platform)) ?? commonPlatforms.length;
  return offered.toSorted((a, b) => rankOf(a) - rankOf(b));
}

/** Statuses of what is not there. */
const gone: ReadonlySet<number> = new Set([404, 410]);

/** Takes 404 and 410 on the thing itself for its absence; elsewhere, as in discovery, they are an origin's failure. */
export function absentOn404(subject: string): (error: unknown) => never {
  return (cause) => {
    const isGone = isFailure(cause, "origin-status") && gone.has(cause.status);
    throw isGone ? failure("not-found", subject, { cause }) : cause;
  };
}
