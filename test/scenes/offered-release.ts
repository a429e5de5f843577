import { createHash } from "node:crypto";
import type { Sha256 } from "../../src/address/hash.ts";
import { parsePlatform } from "../../src/address/platform.ts";
import { providerAddress } from "../../src/address/provider-address.ts";
import { parseVersion } from "../../src/address/version.ts";
import type { ReleaseOrigin } from "../../src/mirror/releases/fetch.ts";
import type { OriginPackage } from "../../src/origin/registries/registry-answers.ts";
import type { ProviderOrigin } from "../../src/origin/registries/provider-origin.ts";
import { decideSignature } from "../../src/verification/openpgp/signature.ts";
import type { Release } from "../fakes/release.ts";
import { h1Of } from "./release-sketches.ts";

export const now = new Date("2026-06-01T00:00:00Z");
export const widget = {
  provider: providerAddress("registry.example.com", "acme", "widget"),
  version: parseVersion("1.0.0"),
};
export const widgetOptions = {
  version: "1.0.0",
  platforms: ["linux_amd64", "darwin_arm64"],
  signedAt: new Date("2026-01-01T00:00:00Z"),
};
export const linux = parsePlatform("linux_amd64");
export const darwin = parsePlatform("darwin_arm64");
export const label = {
  id: "its key",
  trustSignature: undefined,
  source: undefined,
  sourceUrl: undefined,
};

/** Nothing is asked of it unless a test says what it answers. */
const silent = (): Promise<never> =>
  Promise.reject(new Error("nobody expected this question"));

/** An origin whose signatures are decided as in the daemon, on a clock that stands still. */
export function originOf(
  registry: Partial<ProviderOrigin> = {},
  policy: Partial<ReleaseOrigin["policy"]> = {},
): ReleaseOrigin {
  return {
    reportedHashes: "publish",
    registry: {
      source: "registry",
      listVersions: silent,
      findPackage: silent,
      findAnyPackage: silent,
      fetchChecksums: silent,
      openArchive: silent,
      ...registry,
    },
    policy: { signatures: "required", profile: "terraform", ...policy },
    judge: {
      library: "arithmetic 1",
      decide: (_, question) => Promise.resolve(decideSignature(question)),
    },
    clock: { now: () => now, monotonic: () => 0 },
  };
}

export function digestOf(bytes: Uint8Array): Sha256 {
  return createHash("sha256").update(bytes).digest("hex") as Sha256;
}

export const placeOf = (sha256: string) =>
  new URL(`https://files.example.com/${sha256}.zip`);

/** What a registry says of the release's package for Linux, with the places of all archives and of one that nobody signed. */
export function describePackage(release: Release): OriginPackage {
  const { filename, bytes } = release.archive("linux_amd64");
  const url = new URL("https://registry.example.com/SHA256SUMS");
  const digests = release.archives.map((one) => digestOf(one.bytes));
  const unsigned = digestOf(Buffer.from("unsigned"));
  return {
    filename,
    downloadUrl: placeOf("now"),
    shasum: digestOf(bytes),
    places: new Map(
      [...digests, unsigned].map((sha256) => [sha256, placeOf(sha256)]),
    ),
    checksums: { kind: "published", url, signatureUrl: url },
    signingKeys: [release.signer.armoredPublicKey],
    keyLabels: [label],
    protocols: [],
    reported: new Map([
      ["linux_amd64", { packageHashes: [h1Of("x")], size: 7 }],
    ]),
  };
}

/** SHA256SUMS and its signature, as they are fetched. */
export function fetchedFrom({ checksums, signature }: Release) {
  const document = Buffer.from(checksums);
  return { source: "registry", document, signature } as const;
}
