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
import type { z } from "zod";
import type { Sha256 } from "../../address/hash.ts";
import { failure } from "../../errors/index.ts";
import type { BlobStore } from "../../store/blobs/blob-store.ts";
import { hashFile } from "../../store/blobs/verified-blobs.ts";
import { plainFileFlags } from "../../store/durable-file.ts";

/** Bytes of a JSON document of a tree. */
const largestDocument = 64 * 1024 * 1024;

/** What is in a storage directory, by device and inode: a link, a mount or a file system may give each a second name. */
export type Stored = ReadonlySet<string>;

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
  await expectOutside(stored, path);
  try {
    const folder = await resolveLinks(path);
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

export async function expectOutside(
  stored: Stored,
  path: string,
): Promise<void> {
  const at = await resolveLinks(path).catch((error: unknown) => {
    throw asFailure(path, error);
  });
  for (let above = at, below = ""; above !== below; above = dirname(above)) {
    if (stored.has((await identityOf(above)) ?? ""))
      throw failure("export-failed", path, "it is in the storage directory");
    below = above;
  }
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

/** Reads a small file; undefined when it is missing. */
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
export async function hasContent(
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

/**
 * Converts a file system error to export-failed for `path`. Other errors are
 * returned unchanged.
 */
function asFailure(path: string, error: unknown): unknown {
  const { code, syscall } = error as NodeJS.ErrnoException;
  return syscall === undefined
    ? error
    : failure("export-failed", path, code ?? syscall, { cause: error });
}
