import { hash } from "node:crypto";
import { formatArchiveName } from "../../src/address/archive-name.ts";
import {
  formatPlatform,
  parsePlatform,
  type Platform,
} from "../../src/address/platform.ts";
import type { ProviderAddress } from "../../src/address/provider-address.ts";
import { parseVersion, type Version } from "../../src/address/version.ts";
import { parseSha256, type Sha256 } from "../../src/address/hash.ts";
import { failure } from "../../src/errors/index.ts";
import type {
  OriginChecksums,
  ProviderOrigin,
} from "../../src/origin/registries/provider-origin.ts";
import {
  type OriginPackage,
  type OriginVersions,
} from "../../src/origin/registries/registry-answers.ts";
import type { Signer } from "../fakes/signing.ts";

const base = "https://registry.example.com/";

/** Offer of a release by a registry. */
interface Offered {
  /** In words: `linux=a darwin=b` names platforms, and archives by a letter. */
  readonly content: string;
  /** Signer; undefined for an unsigned release. */
  readonly by?: Signer | undefined;
  readonly signedAt?: Date;
  /** ASCII-armored; those of the signer by default. */
  readonly keys?: readonly string[];
  /** A line more in SHA256SUMS. */
  readonly more?: string;
}

/** The SHA-256 of the archive that a letter stands for. */
export function sha256Of(letter: string): Sha256 {
  return parseSha256(hash("sha256", letter));
}

/** Pairs of OS_ARCH and letter. */
function readContent(text: string): readonly (readonly [string, string])[] {
  return Array.from(
    text.matchAll(/(\w+)=(\w)/g),
    ([, platform = "", letter = ""]) => [`${platform}_amd64`, letter] as const,
  );
}

/** SHA256SUMS of a release. */
export function writeChecksums(
  provider: ProviderAddress,
  version: Version,
  { content, more = "" }: Pick<Offered, "content" | "more">,
): Buffer {
  const lines = readContent(content).map(
    ([platform, letter]) =>
      `${sha256Of(letter)}  ${formatArchiveName(provider, version, parsePlatform(platform))}\n`,
  );
  return Buffer.from(lines.join("") + more);
}

/** A registry without a network: what it offers changes as a test says. */
export class TestRegistry implements ProviderOrigin {
  /** Questions, such as `list thing` and `sums thing 1.0.0`. */
  readonly asked: string[] = [];
  readonly #offers = new Map<string, Offered>();
  readonly #hidden = new Set<string>();
  readonly #held = new Map<string, Promise<unknown>>();
  readonly #faults = new Map<string, Error>();

  /** Offers a release, in place of what it offered of it before. */
  offer(version: string, offered: Offered, type = "thing"): void {
    this.#offers.set(`${type} ${version}`, offered);
  }

  /** Offers and lists it no longer. */
  remove(version: string, type = "thing"): void {
    this.#offers.delete(`${type} ${version}`);
  }

  /** Lists a version no longer that it still offers. */
  hide(version: string, type = "thing"): void {
    this.#hidden.add(`${type} ${version}`);
  }

  /** Answers questions that begin so with a failure. */
  fail(question: string, error: Error = unreachable): void {
    this.#faults.set(question, error);
  }

  /** Answers a question only once the function that it returns is called. */
  hold(question: string): () => void {
    const { promise, resolve } = Promise.withResolvers<undefined>();
    this.#held.set(question, promise);
    return () => resolve(undefined);
  }

  heal(): void {
    this.#faults.clear();
  }

  /** Counts requests for a question. */
  count(question: string): number {
    return this.asked.filter((one) => one.startsWith(question)).length;
  }

  async listVersions({ type }: ProviderAddress): Promise<OriginVersions> {
    await this.#answer(`list ${type}`);
    const names = [...this.#offers].filter(
      ([name]) => name.startsWith(`${type} `) && !this.#hidden.has(name),
    );
    const versions = names.map(([name, { content }]) => ({
      version: parseVersion(name.split(" ")[1] ?? ""),
      protocols: ["5.0"],
      platforms: readContent(content).map(([one]) => parsePlatform(one)),
    }));
    return { versions, warnings: [] };
  }

  async findPackage(
    provider: ProviderAddress,
    version: Version,
    platforms?: readonly Platform[],
  ): Promise<OriginPackage> {
    const name = `${provider.type} ${version}`;
    await this.#answer(`release ${name}`);
    const offered = this.#offers.get(name);
    if (offered === undefined) throw failure("not-found", name);
    const pairs = readContent(offered.content);
    const asked = platforms?.map(formatPlatform) ?? pairs.map(([one]) => one);
    const [found] = pairs.filter(([one]) => asked.includes(one));
    if (found === undefined) throw failure("not-found", name);
    const [platform, letter] = found;
    const { by, keys = by === undefined ? [] : [by.armoredPublicKey] } =
      offered;
    const url = new URL(`${name}/SHA256SUMS`, base);
    const shasum = sha256Of(letter);
    return {
      filename: formatArchiveName(provider, version, parsePlatform(platform)),
      downloadUrl: new URL(letter, base),
      shasum,
      places: new Map(
        pairs.map(([, one]) => [sha256Of(one), new URL(one, base)]),
      ),
      checksums: { url, signatureUrl: url },
      signingKeys: keys,
      keyLabels: keys.map(() => ({})),
      protocols: ["5.0"],
    };
  }

  async fetchChecksums(
    { checksums }: OriginPackage,
    _: AbortSignal,
    provider: ProviderAddress,
  ): Promise<OriginChecksums> {
    const [, name = ""] = decodeURI(checksums.url.pathname).split("/");
    const version = parseVersion(name.split(" ")[1] ?? "");
    await this.#answer(`sums ${name}`);
    const offered = this.#offers.get(name);
    if (offered === undefined) throw failure("not-found", name);
    const document = writeChecksums(provider, version, offered);
    const signature = await offered.by?.sign(document, offered.signedAt);
    return { document, signature };
  }

  openArchive(): Promise<never> {
    return Promise.reject(unreachable);
  }

  async #answer(question: string): Promise<void> {
    this.asked.push(question);
    await (this.#held.get(question) ?? new Promise(setImmediate));
    for (const [begin, fault] of this.#faults)
      if (question.startsWith(begin)) throw fault;
  }
}

export const unreachable = failure("origin-unreachable", base, "ECONNREFUSED");
