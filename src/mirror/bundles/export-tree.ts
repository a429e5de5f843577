import { join } from "node:path";
import { z } from "zod";
import type { Sha256 } from "../../address/hash.ts";
import { formatPlatform } from "../../address/platform.ts";
import { formatProviderAddress } from "../../address/provider-address.ts";
import type { Version } from "../../address/version.ts";
import { failure, ProvenderError } from "../../errors/index.ts";
import type { BlobStore } from "../../store/blobs/blob-store.ts";
import type {
  AdmittedPackage,
  ProviderMirror,
} from "../providers/provider-mirror.ts";
import {
  renderIndex,
  renderVersion,
} from "../providers/package-description.ts";
import {
  hasContent,
  makeFolder,
  placeDocument,
  placeFile,
  readShaped,
  type Stored,
} from "./export-folder.ts";

/**
 * Sources of an export: the mirror for packages that clients may have, the
 * store for their bytes.
 */
export interface ExportParts {
  readonly providers: ProviderMirror;
  readonly blobs: BlobStore;
  /** No export writes there. */
  readonly stored: Stored;
}

/** A package that clients may have and that is stored. */
export interface ExportedPackage extends AdmittedPackage {
  /** Bytes. */
  readonly size: number;
}

export interface FailedExport {
  /** Name of what was not exported, such as `HOSTNAME/NAMESPACE/TYPE`. */
  readonly subject: string;
  readonly error: ProvenderError;
}

export function byVersion(
  packages: readonly ExportedPackage[],
): ReadonlyMap<Version, readonly ExportedPackage[]> {
  return Map.groupBy(packages, ({ request }) => request.address.version);
}

/** Writes each provider into its folder, DIR/HOSTNAME/NAMESPACE/TYPE; what fails of one takes nothing from the rest. Throws what is not foreseen. */
export async function writeProviders(
  directory: string,
  { stored }: ExportParts,
  packages: readonly ExportedPackage[],
  write: (folder: string, group: readonly ExportedPackage[]) => Promise<void>,
): Promise<readonly FailedExport[]> {
  const failed: FailedExport[] = [];
  const providers = Map.groupBy(packages, ({ request }) =>
    formatProviderAddress(request.provider),
  );
  for (const [subject, group] of providers)
    try {
      const name = subject.split("/");
      await write(await makeFolder(directory, name, stored), group);
    } catch (error) {
      if (!(error instanceof ProvenderError)) throw error;
      failed.push({ subject, error });
    }
  return failed;
}

const indexShape = z.looseObject({
  versions: z.record(z.string(), z.looseObject({})),
});
const versionShape = z.looseObject({
  archives: z.record(
    z.string(),
    z.looseObject({ url: z.string(), hashes: z.array(z.string()).optional() }),
  ),
});

/**
 * Writes packages into a tree as `terraform providers mirror` makes it, or joins
 * them to what is there: first archives, then VERSION.json, index.json last, so
 * that clients of the tree never read of what is not there.
 */
export function writeTree(
  directory: string,
  parts: ExportParts,
  packages: readonly ExportedPackage[],
  signal: AbortSignal,
): Promise<readonly FailedExport[]> {
  return writeProviders(directory, parts, packages, async (folder, group) => {
    for (const { found } of group) {
      signal.throwIfAborted();
      await placeArchive(folder, found.filename, found.sha256, parts.blobs);
    }
    const read = <T>(name: string, shape: z.ZodType<T>) =>
      readShaped(folder, name, shape, "a mirror's document");
    // As Go's MarshalIndent writes it for Terraform: two spaces, sorted keys, no line end.
    const place = (name: string, document: object) =>
      placeDocument(folder, name, JSON.stringify(sortKeys(document), null, 2));
    const releases = byVersion(group);
    for (const [version, exported] of releases) {
      const there = await read(`${version}.json`, versionShape);
      // As the daemon does, with an h1 for every archive that has one.
      const [first] = exported;
      const all = first ? await parts.providers.describePackages(first) : [];
      const names = exported.map(({ found }) => formatPlatform(found.platform));
      const own = all.filter(({ platform }) =>
        names.includes(formatPlatform(platform)),
      );
      const { archives } = versionShape.parse(renderVersion(own));
      const joined = { ...there?.archives, ...archives };
      await place(`${version}.json`, { ...there, archives: joined });
    }
    const there = await read("index.json", indexShape);
    const { versions } = indexShape.parse(renderIndex([...releases.keys()]));
    const joined = { ...versions, ...there?.versions };
    await place("index.json", { ...there, versions: joined });
  });
}

/** Places an archive in the folder. A file with the right content stays. */
export async function placeArchive(
  folder: string,
  filename: string,
  sha256: Sha256,
  blobs: BlobStore,
): Promise<void> {
  if (await hasContent(join(folder, filename), sha256, blobs)) return;
  await placeFile(folder, filename, async (path) => {
    if (!(await blobs.giveOut(sha256, path)))
      throw failure("export-failed", filename, "it left the store meanwhile");
  });
}

function sortKeys(value: unknown): unknown {
  if (typeof value !== "object" || value === null || Array.isArray(value))
    return value;
  const entries = Object.entries(value)
    .toSorted(([a], [b]) => (a < b ? -1 : 1))
    .map(([key, inner]) => [key, sortKeys(inner)] as const);
  return Object.fromEntries(entries);
}
