import { hash } from "node:crypto";
import { formatArchiveName } from "../../src/address/archive-name.ts";
import { parseSha256, type Sha256 } from "../../src/address/hash.ts";
import { parsePlatform } from "../../src/address/platform.ts";
import type { ProviderAddress } from "../../src/address/provider-address.ts";
import type { Version } from "../../src/address/version.ts";
import { failure } from "../../src/errors/index.ts";
import type { Signer } from "../fakes/signing.ts";
import { releaseOf } from "./composed-mirror.ts";
import { type Offered, OfferedOrigin, unreachable } from "./offered-origin.ts";

export { unreachable };

interface Release {
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

export function writeChecksums(
  provider: ProviderAddress,
  version: Version,
  { content, more = "" }: Pick<Release, "content" | "more">,
): Buffer {
  const lines = readContent(content).map(
    ([platform, letter]) =>
      `${sha256Of(letter)}  ${formatArchiveName(provider, version, parsePlatform(platform))}\n`,
  );
  return Buffer.from(lines.join("") + more);
}

/** A registry without a network: what it offers changes as a test says. */
export class TestRegistry extends OfferedOrigin {
  /** Questions, such as `list thing` and `sums thing 1.0.0`. */
  readonly asked: string[] = [];
  readonly #offers = new Map<string, Release>();
  readonly #hidden = new Set<string>();
  readonly #held = new Map<string, Promise<unknown>>();
  readonly #faults = new Map<string, Error>();

  offer(version: string, offered: Release, type = "thing"): void {
    this.#offers.set(`${type} ${version}`, offered);
  }

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

  count(question: string): number {
    return this.asked.filter((one) => one.startsWith(question)).length;
  }

  protected listOffered(type: string): readonly string[] {
    return [...this.#offers.keys()]
      .filter((name) => name.startsWith(`${type} `) && !this.#hidden.has(name))
      .map((name) => name.split(" ")[1] ?? "");
  }

  protected find(type: string, version: string): Offered | undefined {
    const name = `${type} ${version}`;
    const offered = this.#offers.get(name);
    if (offered === undefined) return undefined;
    const own = offered.by === undefined ? [] : [offered.by.armoredPublicKey];
    const letters = readContent(offered.content);
    return {
      digests: Object.fromEntries(
        letters.map(([platform, letter]) => [platform, sha256Of(letter)]),
      ),
      keys: offered.keys ?? own,
      ...{ sums: `${name}/SHA256SUMS`, namesSignature: true },
      fetch: async () => {
        const now = this.#offers.get(name);
        if (now === undefined) throw failure("not-found", name);
        const address = releaseOf(type, version);
        const document = writeChecksums(address.provider, address.version, now);
        const signature = await now.by?.sign(document, now.signedAt);
        return { document, signature };
      },
    };
  }

  protected async answer(...words: readonly string[]): Promise<void> {
    const question = words.join(" ").trimEnd();
    this.asked.push(question);
    await (this.#held.get(question) ?? new Promise(setImmediate));
    for (const [begin, fault] of this.#faults)
      if (question.startsWith(begin)) throw fault;
  }
}
