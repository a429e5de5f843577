import { LRUCache } from "lru-cache";
import pLimit from "p-limit";
import { formatPlatform, type Platform } from "../../address/platform.ts";
import {
  formatProviderAddress,
  type ProviderAddress,
} from "../../address/provider-address.ts";
import { isVersion, newestFirst, type Version } from "../../address/version.ts";
import { failure } from "../../errors/index.ts";
import type { OriginLimits } from "../guard/origin-settings.ts";
import type { OriginArchive } from "../http/http-client.ts";
import { checkCount } from "../registries/answer-shape.ts";
import type {
  OriginChecksums,
  ProviderOrigin,
} from "../registries/provider-origin.ts";
import {
  unlabelled,
  type OriginPackage,
  type OriginVersion,
  type OriginVersions,
} from "../registries/registry-answers.ts";
import { SharedLists } from "../registries/shared-lists.ts";
import {
  readNamespaceKeys,
  readReleaseFolder,
  type FolderRelease,
} from "./release-folder.ts";
import type { OriginFolder } from "./origin-folder.ts";

interface FolderProvidersParts {
  readonly folder: OriginFolder;
  readonly limits: OriginLimits;
  /** True when a release needs a signature. */
  readonly signed: boolean;
  /** Hears of a folder that looks like a release and is unfit. */
  readonly onUnfit: (path: string, reason: string) => void;
}

/** Folders that are read at once. */
const atOnce = 16;

/** Providers whose lists are remembered. */
const mostLists = 1_000;

/**
 * Providers in a folder: NAMESPACE/TYPE/VERSION/ with goreleaser's files,
 * NAMESPACE/keys/*.asc with the permitted signers. They are verified like a
 * registry's answers.
 */
export class FolderProviders implements ProviderOrigin {
  readonly #parts: FolderProvidersParts;
  /** Complete releases, which are not read again for a list. */
  readonly #complete = new LRUCache<
    string,
    ReadonlyMap<Version, OriginVersion>
  >({ max: mostLists });

  constructor(parts: FolderProvidersParts) {
    this.#parts = parts;
  }

  async listVersions(
    provider: ProviderAddress,
    signal: AbortSignal,
  ): Promise<OriginVersions> {
    const { folder, limits } = this.#parts;
    const name = formatProviderAddress(provider);
    const parts = [provider.namespace, provider.type];
    const entries = await folder.list(parts);
    if (entries === undefined) throw failure("not-found", name);
    const url = folder.urlOf(parts);
    const named = newestFirst(entries.map((one) => one.name).filter(isVersion));
    checkCount(url, named.length, limits.versions, "versions");
    const known = this.#complete.get(name);
    const lists = new SharedLists(url);
    const unknown = named.filter((version) => known?.has(version) !== true);
    const read = await pLimit(atOnce).map(unknown, async (version) => {
      if (signal.aborted) return [version, undefined] as const;
      return [version, await this.#describe(provider, version, lists)] as const;
    });
    const found = new Map([...(known ?? []), ...read]);
    const versions = named.flatMap((version) => found.get(version) ?? []);
    const complete = versions.map((one) => [one.version, one] as const);
    this.#complete.set(name, new Map(complete));
    if (signal.aborted)
      throw failure(
        "origin-timeout",
        url.href,
        "it has many new releases to read",
      );
    return { versions, warnings: [] };
  }

  async findPackage(
    provider: ProviderAddress,
    version: Version,
    platform: Platform,
  ): Promise<OriginPackage> {
    const release = await this.#read(provider, version);
    const found = release?.packages.get(formatPlatform(platform));
    const name = `${formatProviderAddress(provider)} ${version}`;
    if (release === undefined) throw failure("not-found", name);
    if (found === undefined)
      throw failure("not-found", `${name} for ${formatPlatform(platform)}`);
    const { folder, limits } = this.#parts;
    const urlOf = (file: string) =>
      folder.urlOf([...placeOf(provider, version), file]);
    const { checksums, signature, protocols, packages } = release;
    const signingKeys = await readNamespaceKeys(
      folder,
      provider.namespace,
      limits,
    );
    return {
      filename: found.filename,
      downloadUrl: urlOf(found.filename),
      shasum: found.sha256,
      places: new Map(
        packages
          .values()
          .map((one) => [one.sha256, urlOf(one.filename)] as const),
      ),
      checksums: {
        url: urlOf(checksums),
        signatureUrl: signature === undefined ? undefined : urlOf(signature),
      },
      signingKeys,
      keyLabels: signingKeys.map(() => unlabelled),
      protocols,
    };
  }

  async findAnyPackage(
    provider: ProviderAddress,
    version: Version,
  ): Promise<OriginPackage> {
    const release = await this.#read(provider, version);
    const [found] = release?.packages.values() ?? [];
    if (found === undefined)
      throw failure(
        "not-found",
        `${formatProviderAddress(provider)} ${version}`,
      );
    return this.findPackage(provider, version, found.platform);
  }

  async fetchChecksums({ checksums }: OriginPackage): Promise<OriginChecksums> {
    const { url, signatureUrl } = checksums;
    const { limits } = this.#parts;
    return {
      document: await this.#readUrl(url, limits.checksums),
      signature:
        signatureUrl && (await this.#readUrl(signatureUrl, limits.signature)),
    };
  }

  async openArchive(
    { downloadUrl }: Pick<OriginPackage, "downloadUrl">,
    signal: AbortSignal,
  ): Promise<OriginArchive> {
    const { folder, limits } = this.#parts;
    const parts = folder.partsOf(downloadUrl);
    const archive = await folder.archive(parts, limits.archive, signal);
    if (archive === undefined) throw failure("not-found", folder.nameOf(parts));
    return archive;
  }

  async #describe(
    provider: ProviderAddress,
    version: Version,
    lists: SharedLists,
  ): Promise<OriginVersion | undefined> {
    const release = await this.#read(provider, version);
    if (release === undefined) return undefined;
    const platforms = [...release.packages.values()].map((one) => one.platform);
    return {
      version,
      protocols: lists.protocols(release.protocols),
      platforms: lists.platforms(platforms),
    };
  }

  /** Returns undefined for an unfit folder, which is reported. */
  async #read(
    provider: ProviderAddress,
    version: Version,
  ): Promise<FolderRelease | undefined> {
    const { folder, onUnfit } = this.#parts;
    const parts = placeOf(provider, version);
    const read = await readReleaseFolder(this.#parts, parts, provider, version);
    if (read === undefined || !("unfit" in read)) return read;
    onUnfit(folder.show(parts), read.unfit);
    return undefined;
  }

  async #readUrl(url: URL, most: number): Promise<Uint8Array> {
    const { folder } = this.#parts;
    const parts = folder.partsOf(url);
    const bytes = await folder.read(parts, most);
    if (bytes === undefined) throw failure("not-found", folder.nameOf(parts));
    return bytes;
  }
}

function placeOf(
  { namespace, type }: ProviderAddress,
  version: Version,
): readonly string[] {
  return [namespace, type, version];
}
