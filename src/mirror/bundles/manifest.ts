import { z } from "zod";
import { parseSha256, type Sha256 } from "../../address/hash.ts";
import {
  formatPlatform,
  parsePlatform,
  type Platform,
} from "../../address/platform.ts";
import {
  formatProviderAddress,
  parseProviderAddress,
} from "../../address/provider-address.ts";
import { compareVersions, parseVersion } from "../../address/version.ts";
import type { TarMember } from "../../verification/archives/tar-header.ts";
import { formatRelease, type ReleaseAddress } from "../releases/release.ts";

/** Proof or archive by the SHA-256 of its bytes. */
export interface BundleContent {
  readonly sha256: Sha256;
  /** Bytes. */
  readonly size: number;
}

/** A release of which packages were exported. */
export interface BundledRelease {
  readonly address: ReleaseAddress;
  /** Of the proof's bytes. */
  readonly proof: Sha256;
  /** What the origin registry offers; sorted by name. */
  readonly platforms: readonly Platform[];
  /** The packages that were exported, by OS_ARCH. */
  readonly archives: ReadonlyMap<string, Sha256>;
}

/** The first member of a bundle. What it lists and does not carry, the receiver is expected to have. */
export interface BundleManifest {
  readonly releases: readonly BundledRelease[];
  readonly proofs: readonly BundleContent[];
  readonly archives: readonly BundleContent[];
}

export const manifestName = "manifest.json";

const format = "provender-bundle/1";

const sha256 = z.string().transform(parseSha256);
const contents = z.array(
  z.strictObject({ sha256, size: z.int().nonnegative() }),
);
const shape = z.strictObject({
  format: z.literal(format),
  releases: z.array(
    z.strictObject({
      provider: z.string().transform(parseProviderAddress),
      version: z.string().transform(parseVersion),
      proof: sha256,
      platforms: z.array(z.string().transform(parsePlatform)),
      archives: z.record(z.string().regex(/^[a-z0-9]+_[a-z0-9]+$/), sha256),
    }),
  ),
  proofs: contents,
  archives: contents,
});

/** One text for one content: everything is sorted, and nothing is twice. */
export function formatManifest(manifest: BundleManifest): string {
  const releases = unique(manifest.releases, ({ address }) =>
    formatRelease(address),
  ).toSorted(byAddress);
  const document = {
    format,
    releases: releases.map((release) => ({
      provider: formatProviderAddress(release.address.provider),
      version: release.address.version,
      proof: release.proof,
      platforms: release.platforms.map(formatPlatform).toSorted(),
      archives: Object.fromEntries(
        [...release.archives].toSorted(([a], [b]) => (a < b ? -1 : 1)),
      ),
    })),
    proofs: sortContents(manifest.proofs),
    archives: sortContents(manifest.archives),
  };
  return `${JSON.stringify(document, null, 2)}\n`;
}

/** Throws for what is not exactly the text that `formatManifest` makes of some manifest. */
export function parseManifest(text: string): BundleManifest {
  const { releases, proofs, archives } = shape.parse(JSON.parse(text));
  const manifest = {
    releases: releases.map(({ provider, version, ...rest }) => ({
      address: { provider, version },
      proof: rest.proof,
      platforms: rest.platforms,
      archives: new Map(Object.entries(rest.archives)),
    })),
    proofs,
    archives,
  };
  if (formatManifest(manifest) !== text)
    throw new RangeError("its manifest is not in its canonical form");
  expectListed(manifest);
  return manifest;
}

/** What follows the manifest, in this order. */
export function listMembers({
  proofs,
  archives,
}: BundleManifest): readonly (TarMember & BundleContent)[] {
  return [
    ...proofs.map((one) => ({ ...one, name: `proofs/${one.sha256}.json` })),
    ...archives.map((one) => ({ ...one, name: `archives/${one.sha256}.zip` })),
  ];
}

/** A bundle carries nothing that no release speaks of, and nothing as two things. */
function expectListed({ releases, proofs, archives }: BundleManifest): void {
  const carried = [...proofs, ...archives].map((one) => one.sha256);
  if (new Set(carried).size < carried.length)
    throw new RangeError("it carries something twice");
  const spoken = {
    proofs: new Set(releases.map(({ proof }) => proof)),
    archives: new Set(releases.flatMap((one) => [...one.archives.values()])),
  };
  const isListed =
    proofs.every((one) => spoken.proofs.has(one.sha256)) &&
    archives.every((one) => spoken.archives.has(one.sha256));
  if (!isListed)
    throw new RangeError("it carries what none of its releases speaks of");
}

function sortContents(all: readonly BundleContent[]): readonly BundleContent[] {
  return unique(all, (one) => one.sha256)
    .map(({ sha256, size }) => ({ sha256, size }))
    .toSorted((a, b) => (a.sha256 < b.sha256 ? -1 : 1));
}

function byAddress(a: BundledRelease, b: BundledRelease): number {
  const [first, second] = [a, b].map(({ address }) =>
    formatProviderAddress(address.provider),
  );
  return first === second
    ? compareVersions(a.address.version, b.address.version)
    : (first ?? "") < (second ?? "")
      ? -1
      : 1;
}

function unique<T>(all: readonly T[], keyOf: (one: T) => string): readonly T[] {
  return [...new Map(all.map((one) => [keyOf(one), one])).values()];
}
