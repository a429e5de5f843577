import { createReadStream } from "node:fs";
import { mkdir, readFile } from "node:fs/promises";
import { join } from "node:path";
import { pipeline } from "node:stream/promises";
import { createGzip } from "node:zlib";
import { pack, type Pack } from "tar-stream";
import {
  runGit,
  type GitSurroundings,
} from "../../../origin/git/git-process.ts";
import { findEscape } from "../../../verification/archives/members.ts";
import { PackBudget, type PackLimits } from "./budget.ts";
import { planArchive, type PlannedFile } from "./plan.ts";
import { listTree, type GitEntry } from "./tree.ts";

/** A commit of which the mirror cannot make an archive that is equal to what clients would fetch. */
export class NotPackable extends Error {}

/** The files of a commit, with their contents below `folder`. */
interface CheckedOut {
  readonly folder: string;
  readonly files: readonly PlannedFile[];
}

/**
 * Checks out the contents of a commit, once git's own list of it is within the limits. Throws RangeError for what is refused,
 * NotPackable for submodules, GitFailed, and what `hold` throws, which gets the bytes of all contents.
 */
export async function checkOut(
  repository: GitSurroundings,
  commit: string,
  limits: PackLimits,
  hold: (bytes: number) => Promise<void>,
): Promise<CheckedOut> {
  const budget = new PackBudget(limits);
  const entries = await listTree(repository, commit, budget);
  expectPackable(entries, limits);
  const sizes = new Map(entries.map(({ id, size }) => [id, size]));
  await hold([...sizes.values()].reduce((sum, size) => sum + size, 0));
  const folder = join(repository.folder, "contents");
  await mkdir(folder);
  await checkOutContents(repository, [...sizes.keys()], folder);
  const targets = await readTargets(folder, entries);
  return { folder, files: planArchive({ entries, targets }, budget) };
}

/** Writes each content once, as a file named by its id, so that a commit's names and attributes decide nothing on this disk. */
async function checkOutContents(
  repository: GitSurroundings,
  ids: readonly string[],
  folder: string,
): Promise<void> {
  const index = ids.map((id) => `100644 ${id}\t${id}\n`).join("");
  await runGit(["update-index", "--index-info"], repository, index);
  const workTree = `--work-tree=${folder}`;
  await runGit([workTree, "checkout-index", "--all"], repository);
}

/** Throws RangeError, and NotPackable for submodules. */
function expectPackable(
  entries: readonly GitEntry[],
  limits: PackLimits,
): void {
  const budget = new PackBudget(limits);
  for (const { kind, size } of entries) {
    if (kind === "submodule") throw new NotPackable("git with submodules");
    if (kind === "link") budget.readLink(size);
    else budget.keepFile(size);
  }
  const names = entries.map(({ path }) => path);
  const hidden = names.find((path) => /(?:^|\/)\.git(?:\/|$)/i.test(path));
  if (hidden !== undefined)
    throw new RangeError(`it has ${JSON.stringify(hidden)}`);
  const escape = findEscape(names.map((name) => ({ name, kind: "file" })));
  if (escape !== undefined) throw new RangeError(escape);
}

/** Reads what links lead to, by path. */
async function readTargets(
  folder: string,
  entries: readonly GitEntry[],
): Promise<ReadonlyMap<string, string>> {
  const links = entries.filter(({ kind }) => kind === "link");
  const targets = links.map(
    async ({ path, id }) =>
      [path, await readFile(join(folder, id), "utf8")] as const,
  );
  return new Map(await Promise.all(targets));
}

/** Writes a tar.gz that is the same whenever it is made of the same commit: names in order, of 1970. */
export async function* writeArchive(
  { folder, files }: CheckedOut,
  signal: AbortSignal,
): AsyncGenerator<Uint8Array> {
  const tar = pack();
  const gzip = createGzip();
  const written = Promise.all([
    addFiles(tar, folder, files),
    pipeline(tar, gzip, { signal }),
  ]);
  written.catch((error: unknown) => tar.destroy(error as Error));
  yield* gzip as AsyncIterable<Uint8Array>;
  await written;
}

async function addFiles(
  tar: Pack,
  folder: string,
  files: readonly PlannedFile[],
): Promise<void> {
  const mtime = new Date(0);
  for (const { path, id, size, isExecutable } of files) {
    const mode = isExecutable ? 0o755 : 0o644;
    const entry = tar.entry({ name: path, size, mode, mtime });
    await pipeline(createReadStream(join(folder, id)), entry);
  }
  tar.finalize();
}
