import { formatArchiveName } from "../address/archive-name.ts";
import { formatPlatform, type Platform } from "../address/platform.ts";
import {
  formatProviderAddress,
  type ProviderAddress,
} from "../address/provider-address.ts";
import type { Version } from "../address/version.ts";
import { NotFound, OriginStatus } from "../errors.ts";
import type { HttpClient, OriginArchive } from "./http-client.ts";
import type { OriginLimits } from "./origin-settings.ts";
import {
  parsePackage,
  parseVersions,
  type OriginPackage,
  type OriginVersions,
} from "./registry-answers.ts";
import type { ServiceDiscovery } from "./service-discovery.ts";

/** What signs a release, as fetched and not yet believed. */
export interface OriginChecksums {
  readonly document: Uint8Array;
  /** Undefined when the registry names no signature. */
  readonly signature: Uint8Array | undefined;
}

/** An origin that speaks the provider registry protocol. */
export class ProviderRegistry {
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

  /** "List Available Versions"; throws NotFound when the registry says so. */
  async listVersions(
    address: ProviderAddress,
    signal: AbortSignal,
  ): Promise<OriginVersions> {
    const base = await this.#discovery.findService("providers.v1", signal);
    const path = `${address.namespace}/${address.type}/versions`;
    const subject = formatProviderAddress(address);
    const answer = await absentOn404(subject, () =>
      this.#http.fetchJson(
        new URL(path, base),
        signal,
        this.#limits.originJson,
        subject,
      ),
    );
    return parseVersions(answer.url, answer.value, this.#limits.versions);
  }

  /** "Find a Provider Package"; throws NotFound when the registry says so. */
  async findPackage(
    address: ProviderAddress,
    version: Version,
    platform: Platform,
    signal: AbortSignal,
  ): Promise<OriginPackage> {
    const base = await this.#discovery.findService("providers.v1", signal);
    const path = `${address.namespace}/${address.type}/${version}/download/${platform.os}/${platform.arch}`;
    const subject = `${formatProviderAddress(address)} ${version} for ${formatPlatform(platform)}`;
    const answer = await absentOn404(subject, () =>
      this.#http.fetchJson(
        new URL(path, base),
        signal,
        this.#packageJson(),
        formatProviderAddress(address),
      ),
    );
    const filename = formatArchiveName(address, version, platform);
    return parsePackage(answer.url, answer.value, platform, filename);
  }

  /** SHA256SUMS and its signature, at the same time. */
  async fetchChecksums(
    { checksumsUrl, signatureUrl }: OriginPackage,
    signal: AbortSignal,
    address?: ProviderAddress,
  ): Promise<OriginChecksums> {
    const subject = address && formatProviderAddress(address);
    const fetch = (url: URL, most: number) =>
      this.#http.fetchDocument(url, most, signal, subject);
    const [document, signature] = await Promise.all([
      fetch(checksumsUrl, this.#limits.checksums),
      signatureUrl && fetch(signatureUrl, this.#limits.signature),
    ]);
    return { document: document.bytes, signature: signature?.bytes };
  }

  /** Bytes of a package answer: its keys with room for escapes and the rest; parsing more would hold up everybody. */
  #packageJson(): number {
    return Math.min(this.#limits.originJson, 4 * this.#limits.keys);
  }

  async openArchive(
    found: OriginPackage,
    signal: AbortSignal,
    address?: ProviderAddress,
  ): Promise<OriginArchive> {
    const subject = address && formatProviderAddress(address);
    return this.#http.openArchive(found.downloadUrl, signal, subject);
  }
}

/** Only a 404 on the thing itself is absence; a 404 elsewhere (discovery, SHA256SUMS) is a failing origin. */
async function absentOn404<T>(
  subject: string,
  ask: () => Promise<T>,
): Promise<T> {
  try {
    return await ask();
  } catch (error) {
    if (error instanceof OriginStatus && error.status === 404)
      throw new NotFound(subject, { cause: error });
    throw error;
  }
}
