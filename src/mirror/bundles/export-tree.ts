import {
  mkdir,
  open,
  readdir,
  readlink,
  realpath,
  rename,
  rm,
  stat,
  type FileHandle,
} from "node:fs/promises";
import { basename, dirname, join, resolve } from "node:path";
import * as z from "zod";
import type { Sha256 } from "../../address/hash.ts";
import { formatPlatform } from "../../address/platform.ts";
import { formatProviderAddress } from "../../address/provider-address.ts";
import type { Version } from "../../address/version.ts";
import { ProvenderError, failure } from "../../errors/index.ts";
import type { BlobStore } from "../../store/blobs/blob-store.ts";
import { hashFile } from "../../store/blobs/verified-blobs.ts";
import { plainFileFlags } from "../../store/durable-file.ts";
import {
  type AdmittedPackage,
  type ProviderMirror,
  renderIndex,
  renderVersion,
} from "../providers/provider-mirror.ts";

/** Sources of an export: the mirror for packages that clients may have, the store for their bytes. */
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

/** Bytes of a JSON document of a tree. */
const largestDocument = 64 * 1024 * 1024;

/** What is in a storage directory, by device and inode: a link, a mount or a file system may give each a second name. */
type Stored = ReadonlySet<string>;

export async function listStored(storage: string): Promise<Stored> {
  const identify = async (name: string) => identityOf(join(storage, name));
  try {
    const names = await readdir(storage, { recursive: true });
    const found = await Promise.all(["", ...names].map(identify));
    return new Set(found.filter((one) => one !== undefined));
  } catch (error) {
    throw asFailure(storage, error);
  }
}

/** Undefined for what is not there. */
async function identityOf(path: string): Promise<string | undefined> {
  const found = await stat(path).catch(() => undefined);
  return found && `${found.dev} ${found.ino}`;
}

/** Makes a folder of the tree DIR; throws where a link leads out of that, or into the storage directory. */
export async function makeFolder(
  directory: string,
  parts: readonly string[],
  stored: Stored,
): Promise<string> {
  const path = join(directory, ...parts);
  const folder = await expectOutside(stored, path);
  try {
    if (folder !== join(await resolveLinks(directory), ...parts))
      throw failure(
        "export-failed",
        path,
        `it leads through a link to ${folder}`,
      );
    await mkdir(folder, { recursive: true });
    return folder;
  } catch (error) {
    throw asFailure(path, error);
  }
}

/** Returns where the path leads. */
export async function expectOutside(
  stored: Stored,
  path: string,
): Promise<string> {
  const at = await resolveLinks(path).catch((error: unknown) => {
    throw asFailure(path, error);
  });
  for (let above = at, below = ""; above !== below; above = dirname(above)) {
    if (stored.has((await identityOf(above)) ?? ""))
      throw failure("export-failed", path, "it is in the storage directory");
    below = above;
  }
  return at;
}

/** Where a path leads that may not be there yet. */
async function resolveLinks(path: string): Promise<string> {
  const whole = resolve(path);
  try {
    return await realpath(whole);
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code !== "ENOENT" || whole === dirname(whole)) throw error;
    const target = await readlink(whole).catch(() => undefined);
    if (target !== undefined)
      return resolveLinks(resolve(dirname(whole), target));
    return join(await resolveLinks(dirname(whole)), basename(whole));
  }
}

/** Puts `folder/name` in its place whole: `make` makes the new file under another name beside it. */
export async function placeFile(
  folder: string,
  name: string,
  make: (path: string) => Promise<void>,
): Promise<void> {
  const partial = join(folder, `.${name}.${crypto.randomUUID()}.partial`);
  try {
    await make(partial);
    await rename(partial, join(folder, name));
    // Two names of one file are not renamed (rename(2)).
    await rm(partial, { force: true });
  } catch (error) {
    await rm(partial, { force: true });
    throw asFailure(join(folder, name), error);
  }
}

/** Writes a document unless it is there already; durable before it gets its name. */
export async function placeDocument(
  folder: string,
  name: string,
  text: string,
): Promise<void> {
  if ((await readDocument(folder, name)) === text) return;
  await placeFile(folder, name, async (path) => {
    await using file = await open(path, "wx", 0o644);
    await file.writeFile(text);
    await file.sync();
  });
}

/** Undefined when it is missing. */
async function readDocument(
  folder: string,
  name: string,
): Promise<string | undefined> {
  const path = join(folder, name);
  await using file = await openPlain(path);
  if (file === undefined) return undefined;
  const stat = await file.stat();
  if (!stat.isFile() || stat.size > largestDocument)
    throw failure("export-failed", path, "what is there is not a document");
  return await file.readFile("utf8");
}

/** The same in the form of `shape`; `what` is what it should be. */
export async function readShaped<T>(
  folder: string,
  name: string,
  shape: z.ZodType<T>,
  what: string,
): Promise<T | undefined> {
  const text = await readDocument(folder, name);
  if (text === undefined) return undefined;
  try {
    return shape.parse(JSON.parse(text));
  } catch (cause) {
    const reason = `what is there is not ${what}; move it away`;
    throw failure("export-failed", `${folder}/${name}`, reason, { cause });
  }
}

/** True where a file has this content already; a name of the stored archive itself need not be read. */
async function hasContent(
  path: string,
  sha256: Sha256,
  blobs: BlobStore,
): Promise<boolean> {
  await using file = await openPlain(path).catch(() => undefined);
  const blob = await blobs.open(sha256);
  await using stored = blob?.handle;
  if (file === undefined || stored === undefined) return false;
  const [one, other] = await Promise.all([file.stat(), stored.stat()]);
  if (one.dev === other.dev && one.ino === other.ino) return true;
  return (
    one.isFile() && one.size === other.size && (await hashFile(file)) === sha256
  );
}

/** A link is not followed: what stands behind it is not of this tree. */
async function openPlain(path: string): Promise<FileHandle | undefined> {
  try {
    return await open(path, plainFileFlags);
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code === "ENOENT") return undefined;
    throw code === "ELOOP"
      ? failure("export-failed", path, "it is there and is a link")
      : asFailure(path, error);
  }
}

/** Makes export-failed of an error of the file system; another one stays as it is. */
function asFailure(path: string, error: unknown): unknown {
  const { code, syscall } = error as NodeJS.ErrnoException;
  return syscall === undefined
    ? error
    : failure("export-failed", path, code ?? syscall, { cause: error });
}
