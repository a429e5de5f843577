import {
  formatPlatform,
  findPlatform,
  type Platform,
} from "../../address/platform.ts";
import { checkCount } from "./answer-shape.ts";

/** Protocols of a version; there are six. */
const mostProtocols = 16;
/** UTF-16 code units of such a list in JSON. */
const longestProtocols = 256;
/** Lists of protocols of a provider, all versions together. */
const mostProtocolLists = 64;
/** Platforms of a provider, all versions together. */
const mostPlatforms = 1_000;
/** Names in lists that differ; publishers have a handful of lists. */
const mostNames = 50_000;

/** Equal lists of versions are one, so that a long answer is small once it is read. */
export class SharedLists {
  readonly #url: URL;
  readonly #platforms = new Map<string, readonly Platform[]>();
  readonly #protocols = new Map<string, readonly string[]>();
  readonly #lists = new Map<string, readonly Platform[]>();
  #names = 0;

  constructor(url: URL) {
    this.#url = url;
  }

  protocols(listed: readonly string[]): readonly string[] {
    checkCount(this.#url, listed.length, mostProtocols, "protocols");
    const key = JSON.stringify(listed);
    const what = "letters of protocols of a version";
    checkCount(this.#url, key.length, longestProtocols, what);
    const shared = once(this.#protocols, key, () => listed);
    const { size } = this.#protocols;
    checkCount(this.#url, size, mostProtocolLists, "lists of protocols");
    return shared;
  }

  /** Returns undefined for an empty or unreadable list. */
  platforms(listed: readonly Platform[]): readonly Platform[] | undefined {
    const names = listed.map(formatPlatform);
    const readable = once(this.#lists, names.join(), () => {
      this.#names += names.length;
      checkCount(this.#url, this.#names, mostNames, "platforms that differ");
      return names.flatMap((name) => this.#read(name));
    });
    return readable.length === 0 ? undefined : readable;
  }

  #read(name: string): readonly Platform[] {
    const read = once(this.#platforms, name, () => readPlatform(name));
    checkCount(this.#url, this.#platforms.size, mostPlatforms, "platforms");
    return read;
  }
}

function once<T>(kept: Map<string, T>, key: string, make: () => T): T {
  const known = kept.get(key) ?? make();
  kept.set(key, known);
  return known;
}

function readPlatform(name: string): readonly Platform[] {
  const platform = findPlatform(name);
  return platform === undefined ? [] : [platform];
}
