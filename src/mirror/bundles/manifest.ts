import { z } from "zod";
import { parseSha256, type Sha256 } from "../../address/hash.ts";
import { formatModuleAddress } from "../../address/module-address.ts";
import { archiveFormats } from "../../address/module-archive-name.ts";
import { parseSubdirectory } from "../../address/module-source.ts";
import {
  formatPlatform,
  parsePlatform,
  type Platform,
} from "../../address/platform.ts";
import {
  formatProviderAddress,
  parseProviderAddress,
} from "../../address/provider-address.ts";
import { parseModuleAddress } from "../../address/specs/module-spec.ts";
import {
  compareVersions,
  parseVersion,
  type Version,
} from "../../address/version.ts";
import {
  formatModuleRelease,
  type ModuleArchive,
  type ModuleReleaseAddress,
} from "../modules/release.ts";
import { formatRelease, type ReleaseAddress } from "../releases/release.ts";
import type { TarMember } from "./tar-header.ts";

/** Proof or archive by the SHA-256 of its bytes. */
export interface BundleContent {
  readonly sha256: Sha256;
  /** Bytes. */
  readonly size: number;
}

/** A release of which packages were exported. */
export interface BundledRelease {
  readonly address: ReleaseAddress;
  /** SHA-256 of the proof's bytes. */
  readonly proof: Sha256;
  /** Platforms that the origin registry offers; sorted by name. */
  readonly platforms: readonly Platform[];
  /** The packages that were exported, by OS_ARCH. */
  readonly archives: ReadonlyMap<string, Sha256>;
}

/** A version of a module, as clients get it. */
export interface BundledModule {
  readonly address: ModuleReleaseAddress;
  readonly archive: ModuleArchive;
}

/** The first member of a bundle. What it lists and does not carry, the receiver is expected to have. */
export interface BundleManifest {
  readonly releases: readonly BundledRelease[];
  readonly modules: readonly BundledModule[];
  readonly proofs: readonly BundleContent[];
  readonly archives: readonly BundleContent[];
  readonly moduleArchives: readonly BundleContent[];
}

export const manifestName = "manifest.json";

const format = "provender-bundle/1";

const sha256 = z.string().transform(parseSha256);
const contents = z.array(
  z.strictObject({ sha256, size: z.int().nonnegative() }),
);
const text = z.string();
const bundledModule = z
  .strictObject({
    module: text.transform((name) => parseModuleAddress(name, "")),
    version: text.transform(parseVersion),
    sha256,
    format: z.enum(archiveFormats),
    subdirectory: text.transform((folder, context) => {
      const plain = parseSubdirectory(folder);
      if (plain === undefined) context.addIssue("no folder in the package");
      return plain ?? z.NEVER;
    }),
    commit: text.regex(/^(?:[0-9a-f]{40}|[0-9a-f]{64})$/).optional(),
  })
  .transform(({ module, version, commit, ...archive }): BundledModule => ({
    address: { module, version },
    archive: { ...archive, commit },
  }));
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
  modules: z.array(bundledModule),
  proofs: contents,
  archives: contents,
  moduleArchives: contents,
});

/** One text for one content: everything is sorted, and nothing is twice. */
export function formatManifest(manifest: BundleManifest): string {
  const releases = unique(manifest.releases, ({ address }) =>
    formatRelease(address),
  ).toSorted(byRelease(({ provider }) => formatProviderAddress(provider)));
  const modules = unique(manifest.modules, ({ address }) =>
    formatModuleRelease(address),
  ).toSorted(byRelease(({ module }) => formatModuleAddress(module)));
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
    modules: modules.map(describeModule),
    proofs: sortContents(manifest.proofs),
    archives: sortContents(manifest.archives),
    moduleArchives: sortContents(manifest.moduleArchives),
  };
  return `${JSON.stringify(document, null, 2)}\n`;
}

function describeModule({ address, archive }: BundledModule) {
  return {
    module: formatModuleAddress(address.module),
    version: address.version,
    sha256: archive.sha256,
    format: archive.format,
    subdirectory: archive.subdirectory,
    ...(archive.commit !== undefined && { commit: archive.commit }),
  };
}

export function parseManifest(text: string): BundleManifest {
  const document = shape.parse(JSON.parse(text));
  const manifest = {
    ...document,
    releases: document.releases.map(({ provider, version, ...rest }) => ({
      address: { provider, version },
      proof: rest.proof,
      platforms: rest.platforms,
      archives: new Map(Object.entries(rest.archives)),
    })),
  };
  if (formatManifest(manifest) !== text)
    throw new RangeError("its manifest is not in its canonical form");
  expectListed(manifest);
  return manifest;
}

/** Lists the members behind the manifest, in their order. */
export function listMembers({
  proofs,
  archives,
  moduleArchives,
}: BundleManifest): readonly (TarMember & BundleContent)[] {
  return [
    ...proofs.map((one) => ({ ...one, name: `proofs/${one.sha256}.json` })),
    ...archives.map((one) => ({ ...one, name: `archives/${one.sha256}.zip` })),
    ...moduleArchives.map((one) => ({ ...one, name: `modules/${one.sha256}` })),
  ];
}

/** Requires each carried item to belong to a release, and to be listed once. */
function expectListed(manifest: BundleManifest): void {
  const { releases, modules, proofs, archives, moduleArchives } = manifest;
  const contents = [...proofs, ...archives, ...moduleArchives];
  const carried = contents.map((one) => one.sha256);
  if (new Set(carried).size < carried.length)
    throw new RangeError("it carries something twice");
  const spoken = {
    proofs: new Set(releases.map(({ proof }) => proof)),
    archives: new Set(releases.flatMap((one) => [...one.archives.values()])),
    modules: new Set(modules.map(({ archive }) => archive.sha256)),
  };
  const isListed =
    proofs.every((one) => spoken.proofs.has(one.sha256)) &&
    archives.every((one) => spoken.archives.has(one.sha256)) &&
    moduleArchives.every((one) => spoken.modules.has(one.sha256));
  if (!isListed)
    throw new RangeError("it carries what none of its releases speaks of");
}

function sortContents(all: readonly BundleContent[]): readonly BundleContent[] {
  return unique(all, (one) => one.sha256)
    .map(({ sha256, size }) => ({ sha256, size }))
    .toSorted((a, b) => (a.sha256 < b.sha256 ? -1 : 1));
}

/** Compares by name, then by version. */
function byRelease<
  T extends { readonly address: { readonly version: Version } },
>(nameOf: (address: T["address"]) => string) {
  return (a: T, b: T): number => {
    const [first, second] = [nameOf(a.address), nameOf(b.address)];
    if (first !== second) return first < second ? -1 : 1;
    return compareVersions(a.address.version, b.address.version);
  };
}

function unique<T>(all: readonly T[], keyOf: (one: T) => string): readonly T[] {
  return [...new Map(all.map((one) => [keyOf(one), one])).values()];
}
