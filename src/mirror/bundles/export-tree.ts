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
  type MirroredPackage,
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

export function byProvider(
  packages: readonly ExportedPackage[],
): ReadonlyMap<string, readonly ExportedPackage[]> {
  return Map.groupBy(packages, ({ request }) =>
    formatProviderAddress(request.provider),
  );
}

export function byVersion(
  packages: readonly ExportedPackage[],
): ReadonlyMap<Version, readonly ExportedPackage[]> {
  return Map.groupBy(packages, ({ request }) => request.address.version);
}

/** Writes one subject after the other; what fails of one takes nothing from the rest. Throws what is not foreseen. */
export async function writeEach<T>(
  all: Iterable<readonly [subject: string, one: T]>,
  write: (one: T, subject: string) => Promise<void>,
): Promise<readonly FailedExport[]> {
  const failed: FailedExport[] = [];
  for (const [subject, one] of all)
    try {
      await write(one, subject);
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
  return writeEach(byProvider(packages), (group) =>
    writeProvider(directory, parts, group, signal),
  );
}

async function writeProvider(
  directory: string,
  parts: ExportParts,
  packages: readonly ExportedPackage[],
  signal: AbortSignal,
): Promise<void> {
  const [first] = packages;
  if (first === undefined) return;
  const { hostname, namespace, type } = first.request.provider;
  const name = [hostname, namespace, type];
  const folder = await makeFolder(directory, name, parts.stored);
  for (const { found } of packages) {
    signal.throwIfAborted();
    await placeArchive(folder, found.filename, found.sha256, parts.blobs);
  }
  const read = <T>(name: string, shape: z.ZodType<T>) =>
    readShaped(folder, name, shape, "a mirror's document");
  const place = (name: string, document: object) =>
    placeDocument(folder, name, formatDocument(document));
  const releases = byVersion(packages);
  for (const [version, group] of releases) {
    const there = await read(`${version}.json`, versionShape);
    const described = await describe(parts, group);
    const { archives } = versionShape.parse(renderVersion(described));
    const joined = { ...there?.archives, ...archives };
    await place(`${version}.json`, { ...there, archives: joined });
  }
  const there = await read("index.json", indexShape);
  const { versions } = indexShape.parse(renderIndex([...releases.keys()]));
  const joined = { ...versions, ...there?.versions };
  await place("index.json", { ...there, versions: joined });
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

/** As the daemon does, with an h1 for every archive that has one. */
async function describe(
  { providers }: ExportParts,
  group: readonly ExportedPackage[],
): Promise<readonly MirroredPackage[]> {
  const [first] = group;
  const described = first ? await providers.describePackages(first) : [];
  const names = group.map(({ found }) => formatPlatform(found.platform));
  return described.filter(({ platform }) =>
    names.includes(formatPlatform(platform)),
  );
}

/**
 * Formats as Go's MarshalIndent does for Terraform: two spaces, sorted keys, no
 * line end.
 */
function formatDocument(written: object): string {
  return JSON.stringify(sortKeys(written), null, 2);
}

function sortKeys(value: unknown): unknown {
  if (typeof value !== "object" || value === null || Array.isArray(value))
    return value;
  const entries = Object.entries(value)
    .toSorted(([a], [b]) => (a < b ? -1 : 1))
    .map(([key, inner]) => [key, sortKeys(inner)] as const);
  return Object.fromEntries(entries);
}
