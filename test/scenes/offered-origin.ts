import { formatArchiveName } from "../../src/address/archive-name.ts";
import { parseSha256 } from "../../src/address/hash.ts";
import {
  formatPlatform,
  parsePlatform,
  type Platform,
} from "../../src/address/platform.ts";
import type { ProviderAddress } from "../../src/address/provider-address.ts";
import { parseVersion, type Version } from "../../src/address/version.ts";
import { failure } from "../../src/errors/index.ts";
import type {
  OriginChecksums,
  ProviderOrigin,
} from "../../src/origin/registries/provider-origin.ts";
import type {
  OriginPackage,
  OriginVersions,
} from "../../src/origin/registries/registry-answers.ts";

export const base = "https://registry.example.com/";

export const unreachable = failure("origin-unreachable", base, "ECONNREFUSED");

/** What a registry has under the name of a release. */
export interface Offered {
  /** SHA-256 by OS_ARCH. */
  readonly digests: Readonly<Record<string, string>>;
  /** ASCII-armored. */
  readonly keys: readonly string[];
  /** Name of its SHA256SUMS in a URL. */
  readonly sums: string;
  readonly namesSignature: boolean;
  readonly fetch: () => OriginChecksums | Promise<OriginChecksums>;
}

/** A registry without a network. */
export abstract class OfferedOrigin implements ProviderOrigin {
  /** What fetches each SHA256SUMS that was named. */
  readonly #named = new Map<string, () => Promise<OriginChecksums>>();

  /** Takes as long as an answer does, and throws where it fails. */
  protected abstract answer(
    question: "list" | "release" | "sums",
    type: string,
    version: string,
  ): Promise<void>;
  protected abstract listOffered(type: string): readonly string[];
  protected abstract find(type: string, version: string): Offered | undefined;

  async listVersions({ type }: ProviderAddress): Promise<OriginVersions> {
    await this.answer("list", type, "");
    const versions = this.listOffered(type).map((version) => {
      const { digests } = this.find(type, version) ?? {};
      const platforms = digests && Object.keys(digests).map(parsePlatform);
      const protocols = ["5.0"];
      return { version: parseVersion(version), protocols, platforms };
    });
    return { versions, warnings: [] };
  }

  async findPackage(
    address: ProviderAddress,
    version: Version,
    platforms?: readonly Platform[],
  ): Promise<OriginPackage> {
    const { type } = address;
    await this.answer("release", type, version);
    const offered = this.find(type, version);
    const asked = platforms?.map(formatPlatform);
    const found = Object.entries(offered?.digests ?? {}).find(
      ([name]) => asked?.includes(name) ?? true,
    );
    if (offered === undefined || found === undefined)
      throw failure("not-found", `${type} ${version}`);
    const [name, sha256] = found;
    const { digests, keys, sums, fetch, namesSignature } = offered;
    const url = new URL(sums, base);
    this.#named.set(url.href, async () => {
      await this.answer("sums", type, version);
      return fetch();
    });
    const places = Object.values(digests).map(
      (one) => [parseSha256(one), new URL(one, base)] as const,
    );
    return {
      filename: formatArchiveName(address, version, parsePlatform(name)),
      downloadUrl: new URL(sha256, base),
      ...{ shasum: parseSha256(sha256), places: new Map(places) },
      checksums: { url, signatureUrl: namesSignature ? url : undefined },
      signingKeys: keys,
      keyLabels: keys.map(() => ({})),
      protocols: ["5.0"],
    };
  }

  /** Of the document that the look-up named. */
  async fetchChecksums({ checksums }: OriginPackage): Promise<OriginChecksums> {
    const fetch = this.#named.get(checksums.url.href);
    if (fetch === undefined) throw failure("origin-status", base, 404);
    return fetch();
  }

  openArchive(): Promise<never> {
    return Promise.reject(unreachable);
  }
}
