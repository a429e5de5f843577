import { parsePlatform } from "../../src/address/platform.ts";
import {
  type KnownRelease,
  takeOffer,
  verifyOffer,
} from "../../src/mirror/releases/known-release.ts";
import type { OriginPackage } from "../../src/origin/registries/registry-answers.ts";
import { address } from "./believed-releases.ts";
import { originOf } from "./silent-origin.ts";
import { TestRegistry } from "./test-registry.ts";

export type Offered = Parameters<TestRegistry["offer"]>[1];
export const origin = originOf();
const { signal } = new AbortController();
export const platforms = ["linux_amd64", "darwin_amd64"].map(parsePlatform);

/** Returns the registry's answer, and the offer as it is verified. */
export async function ask(offered: Offered, of = origin) {
  const registry = new TestRegistry();
  registry.offer("1.0.0", offered);
  const { provider, version } = address;
  const found = await registry.findAnyPackage(provider, version);
  const fetched = await registry.fetchChecksums(found, signal, provider);
  return {
    found,
    verify: (changes: Partial<OriginPackage> = {}) =>
      verifyOffer(of, address, { ...found, ...changes }, fetched),
  };
}

/** A release of which the registry offered all these, one after the other. */
export async function know(
  ...offers: readonly Offered[]
): Promise<KnownRelease> {
  let known: KnownRelease | undefined;
  for (const offered of offers) {
    const { found, verify } = await ask(offered);
    known = takeOffer(known, await verify(), found, platforms);
  }
  if (known === undefined) throw new Error("nothing was offered");
  return known;
}
