import { formatArchiveName } from "../../../src/address/archive-name.ts";
import type { Sha256 } from "../../../src/address/hash.ts";
import {
  formatPlatform,
  parsePlatform,
  type Platform,
} from "../../../src/address/platform.ts";
import type { ProviderAddress } from "../../../src/address/provider-address.ts";
import { parseVersion, type Version } from "../../../src/address/version.ts";
import { failure } from "../../../src/errors/index.ts";
import type {
  OriginChecksums,
  ProviderOrigin,
} from "../../../src/origin/registries/provider-origin.ts";
import {
  type OriginPackage,
  type OriginVersions,
} from "../../../src/origin/registries/registry-answers.ts";
import type { SignedText } from "./documents.ts";
import type { Life } from "./life.ts";
import type { FaultPlace, Registry } from "./registry.ts";

/** Turns that an answer takes at most in a burst. */
const slowest = 24;

const base = "https://registry.example/";

/** A registry as one process asks it. */
export class ScriptedOrigin implements ProviderOrigin {
  readonly #registry: Registry;
  readonly #life: Life;
  readonly #named = new Map<string, SignedText>();

  constructor(registry: Registry, life: Life) {
    this.#registry = registry;
    this.#life = life;
  }

  async listVersions({ type }: ProviderAddress): Promise<OriginVersions> {
    await this.#life.wait(slowest);
    this.#expect("list", type, "");
    const versions = this.#registry.listVersions(type).map((version) => {
      const offer = this.#registry.findOffer({ type, version });
      return {
        version: parseVersion(version),
        protocols: ["5.0"],
        platforms:
          offer && Object.keys(offer.signed.digests).map(parsePlatform),
      };
    });
    if (versions.length === 0) throw failure("not-found", type);
    return { versions, warnings: [] };
  }

  async findPackage(
    address: ProviderAddress,
    version: Version,
    platforms: readonly Platform[] | undefined,
  ): Promise<OriginPackage> {
    await this.#life.wait(slowest);
    const { type } = address;
    this.#expect("release", type, version);
    const offer = this.#registry.findOffer({ type, version });
    const digests = Object.entries(offer?.signed.digests ?? {});
    const asked = platforms?.map(formatPlatform) ?? digests.map(([one]) => one);
    const [[name, sha256] = []] = digests.filter(([one]) =>
      asked.includes(one),
    );
    if (offer === undefined || name === undefined || sha256 === undefined)
      throw failure("not-found", `${type} ${version}`);
    const { signed, blocks } = offer;
    const { sha256sums, signer, signedAt, signature } = signed;
    const url = new URL(`${sha256sums}-${signer}-${signedAt}`, base);
    this.#named.set(url.href, signed);
    const shasum = sha256 as Sha256;
    const downloadUrl = new URL(shasum, base);
    return {
      filename: formatArchiveName(address, version, parsePlatform(name)),
      ...{ downloadUrl, shasum, places: new Map([[shasum, downloadUrl]]) },
      checksums: {
        url,
        signatureUrl: signature && new URL(`${url.href}.sig`),
      },
      signingKeys: blocks,
      keyLabels: blocks.map(() => ({})),
      protocols: ["5.0"],
    };
  }

  /** Answers with the document that the look-up named, even if the offer has changed. */
  async fetchChecksums({ checksums }: OriginPackage): Promise<OriginChecksums> {
    await this.#life.wait(slowest);
    const signed = this.#named.get(checksums.url.href);
    if (signed === undefined) throw failure("origin-status", base, 404);
    this.#expect("sums", signed.type, signed.version);
    const { text, signature } = signed;
    return { document: Buffer.from(text), signature };
  }

  openArchive(): Promise<never> {
    return Promise.reject(
      failure("origin-unreachable", base, "no bytes are modelled"),
    );
  }

  /** Throws as a client of a real registry does where this one fails. */
  #expect(place: FaultPlace, type: string, version: string): void {
    const fault = this.#registry.findFault(place, { type, version });
    if (fault === "down")
      throw failure("origin-unreachable", base, "ECONNREFUSED");
    if (fault === "gone" && place === "sums")
      throw failure("origin-status", base, 404);
    if (fault === "gone") throw failure("not-found", `${type} ${version}`);
  }
}
