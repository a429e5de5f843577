import { isUtf8 } from "node:buffer";
import { createReadStream } from "node:fs";
import {
  mkdir,
  readdir,
  readFile,
  readlink,
  realpath,
  stat,
} from "node:fs/promises";
import { join } from "node:path";
import { pipeline } from "node:stream/promises";
import { createGzip } from "node:zlib";
import pLimit from "p-limit";
import { pack } from "tar-stream";
import { failure, ProvenderError } from "../../errors/index.ts";
import {
  GitFailed,
  runGit,
  type GitSurroundings,
} from "../../origin/git/git-process.ts";
import type { GitCheckout } from "../../origin/git/repository.ts";
import {
  type ArchiveLimits,
  moduleLimits,
} from "../../verification/archives/limits.ts";
import {
  type ArchiveMember,
  findEscape,
} from "../../verification/archives/members.ts";

type PackLimits = Pick<ArchiveLimits, "entries" | "expandedBytes">;

/** A commit of which the mirror cannot make an archive that is equal to what clients would fetch. */
export class NotPackable extends Error {}

/** Checkouts at once. */
const turn = pLimit(2);
/** Files and folders that are looked at for each file that a module may have, and bytes of git's list. */
const visitsPerEntry = 4;
const listedPerEntry = 768;
/** Bytes of one file, which is read whole. */
const largestAttributes = 1024 * 1024;
/** Links through links. */
const deepest = 16;
const mostLinks = 1_000;

/** Makes a tar.gz of what a client's own checkout has, the same bytes each time. */
export async function* packCommit(
  module: string,
  { git, commit, room }: GitCheckout,
  limits: PackLimits = moduleLimits,
): AsyncGenerator<Uint8Array> {
  const { signal } = git;
  try {
    const files = await turn(async () => {
      const folder = await checkOut(git, commit, limits, room.hold);
      return listFiles(folder, limits);
    });
    // The checkout no longer grows, and the archive has its own reservation.
    room.release();
    yield* writeArchive(files, signal);
  } catch (cause) {
    const late = "packing it took too long";
    if (signal.reason instanceof ProvenderError) throw signal.reason;
    if (signal.aborted)
      throw failure("origin-timeout", module, late, { cause });
    if (cause instanceof RangeError || cause instanceof GitFailed)
      throw failure("module-archive-refused", module, cause.message, { cause });
    throw cause;
  }
}

/**
 * Checks a commit out as clients do: its attributes count, and no hook or filter runs. That happens only once git's own list of it is
 * within the limits and `hold` has room for its bytes.
 */
async function checkOut(
  git: GitSurroundings,
  commit: string,
  limits: PackLimits,
  hold: (bytes: number) => Promise<void>,
): Promise<string> {
  const entries = await listTree(git, commit, limits);
  await hold(entries.reduce((sum, { size }) => sum + size, 0));
  const folder = join(git.folder, "contents");
  await mkdir(folder);
  const symlinks = ["-c", "core.symlinks=true", `--work-tree=${folder}`];
  await runGit([...symlinks, "read-tree", "--reset", "-u", commit], git);
  const links: ArchiveMember[] = [];
  for (const { path, isLink, size } of entries)
    if (isLink) {
      const target = await readlink(join(folder, path));
      links.push({ name: path, kind: "symbolic link", target });
    } else if (/(?:^|\/)\.gitattributes$/.test(path)) {
      if (size > largestAttributes) throw new NotPackable("large attributes");
      const attributes = await readFile(join(folder, path), "utf8");
      if (/\sfilter\b/.test(attributes))
        throw new NotPackable("git with filters");
    }
  // Judged by their text, so that nobody learns from a refusal what this disk has elsewhere.
  refuseEscape(links);
  return folder;
}

interface TreeEntry {
  readonly path: string;
  readonly isLink: boolean;
  readonly size: number;
}

const line =
  /^([0-7]{6}) (blob|tree|commit) [0-9a-f]{40,64} +(-|[0-9]+)\t(.+)$/s;

/** `MODE TYPE ID SIZE`, a tab and the path (git-ls-tree, "OUTPUT FORMAT"). */
async function listTree(
  git: GitSurroundings,
  commit: string,
  { entries: most, expandedBytes }: PackLimits,
): Promise<readonly TreeEntry[]> {
  const args = ["ls-tree", "-r", "-t", "-l", "-z", "--full-tree", commit];
  const printed = await runGit(args, git, most * listedPerEntry);
  if (!isUtf8(printed)) throw new RangeError("a member's name is not UTF-8");
  const lines = printed.toString("utf8").split("\0").slice(0, -1);
  expectAtMost(most * visitsPerEntry, lines.length, "files and folders");
  const folders = new Set([""]);
  const known = new Set<string>();
  const entries: TreeEntry[] = [];
  for (const text of lines) {
    const [, mode, type, size, path] = line.exec(text) ?? [];
    if (path === undefined)
      throw new RangeError(`git listed ${JSON.stringify(text.slice(0, 100))}`);
    // Git writes no other trees, and what it would make of them is its affair.
    const folder = path.slice(0, Math.max(0, path.lastIndexOf("/")));
    const isHidden = /(?:^|\/)\.git(?:\/|$)/i.test(path);
    if (
      !folders.has(folder) ||
      path.startsWith("/") ||
      known.has(path) ||
      isHidden
    )
      throw new RangeError(`a member is named ${JSON.stringify(path)}`);
    known.add(path);
    if (type === "commit") throw new NotPackable("git with submodules");
    if (type === "tree") folders.add(path);
    else entries.push({ path, isLink: mode === "120000", size: Number(size) });
  }
  const bytes = entries.reduce((sum, { size }) => sum + size, 0);
  const links = entries.filter(({ isLink }) => isLink);
  expectAtMost(most, entries.length, "members");
  expectAtMost(expandedBytes, bytes, "bytes");
  expectAtMost(mostLinks, links.length, "links");
  refuseEscape(entries.map(({ path }) => ({ name: path, kind: "file" })));
  return entries;
}

function refuseEscape(members: readonly ArchiveMember[]): void {
  const escape = findEscape(members);
  if (escape !== undefined) throw new RangeError(escape);
}

interface PackedFile {
  readonly name: string;
  /** Where its content is. */
  readonly file: string;
  readonly size: number;
  readonly isExecutable: boolean;
}

/**
 * The files that a reader of the checkout finds, in the order of their names. Clients unpack links of a tar as empty files, so what a
 * link leads to takes its place; links to nothing, and to a folder that they lie in, are left out.
 */
async function listFiles(
  folder: string,
  { entries, expandedBytes }: PackLimits,
): Promise<readonly PackedFile[]> {
  const root = await realpath(folder);
  const files: PackedFile[] = [];
  let [visits, bytes] = [0, 0];

  async function visit(path: string, name: string, depth: number) {
    const mostVisits = entries * visitsPerEntry;
    expectAtMost(mostVisits, ++visits, "files and folders");
    const real = await realpath(path).catch(() => undefined);
    if (real === undefined || depth > deepest) return;
    if (!`${real}/`.startsWith(`${root}/`))
      throw new RangeError(`${JSON.stringify(name)} is a link out of it`);
    if (`${path}/`.startsWith(`${real}/`) && path !== real) return;
    const found = await stat(real);
    const deeper = path === real ? depth : depth + 1;
    if (found.isDirectory()) return walk(real, `${name}/`, deeper);
    bytes += found.size;
    expectAtMost(expandedBytes, bytes, "bytes");
    const isExecutable = (found.mode & 0o100) !== 0;
    files.push({ name, file: real, size: found.size, isExecutable });
    expectAtMost(entries, files.length, "members");
  }

  async function walk(at: string, prefix: string, depth: number) {
    for (const name of await readdir(at))
      await visit(join(at, name), prefix + name, depth);
  }

  await walk(root, "", 0);
  return files.toSorted((a, b) =>
    Buffer.compare(Buffer.from(a.name), Buffer.from(b.name)),
  );
}

/** Writes a tar.gz that is the same whenever it is made of the same files: all of 1970. */
async function* writeArchive(
  files: readonly PackedFile[],
  signal: AbortSignal,
): AsyncGenerator<Uint8Array> {
  const tar = pack();
  const gzip = createGzip();
  const addFiles = async () => {
    const mtime = new Date(0);
    for (const { name, file, size, isExecutable } of files) {
      const mode = isExecutable ? 0o755 : 0o644;
      const entry = tar.entry({ name, size, mode, mtime });
      await pipeline(createReadStream(file), entry);
    }
    tar.finalize();
  };
  const written = Promise.all([addFiles(), pipeline(tar, gzip, { signal })]);
  written.catch((error: unknown) => tar.destroy(error as Error));
  yield* gzip as AsyncIterable<Uint8Array>;
  await written;
}

function expectAtMost(most: number, count: number, what: string): void {
  if (count > most) throw new RangeError(`it has more than ${most} ${what}`);
}
