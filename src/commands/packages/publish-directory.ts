import {
  chmod,
  copyFile,
  mkdir,
  open,
  readdir,
  rename,
  rm,
  stat,
} from "node:fs/promises";
import { dirname, join } from "node:path";
import type { Version } from "../../address/version.ts";
import { failure } from "../../errors/index.ts";
import { OriginFolder } from "../../origin/folder/origin-folder.ts";
import { describeFailure } from "../../store/file-failure.ts";
import { digestOf, type Dist } from "./dist.ts";
/** Throws what the mirror would refuse the release with that a folder has at `parts`. */
export type Judge = (
  folder: OriginFolder,
  parts: readonly string[],
) => Promise<void>;

/** A directory that stands for a registry, where a release appears by rename. */
export class PublishDirectory {
  readonly root: OriginFolder;
  readonly #directory: string;

  constructor(directory: string) {
    this.root = new OriginFolder(directory);
    this.#directory = directory;
  }

  /** Resolves with `present` where the same SHA256SUMS has the place already. Throws an input error where something else has it, and what `judge` throws. */
  async put(dist: Dist, judge: Judge, signal: AbortSignal) {
    const { namespace, type } = dist.address.provider;
    const { version } = dist.address;
    const above = join(this.#directory, namespace);
    const staged = await stage(above, version);
    try {
      for (const name of dist.files) {
        goOn(dist, signal);
        const source = dist.folder.show([...dist.parts, name]);
        const copied = copyDurably(source, join(staged, name));
        await copied.catch(refuse(source, `copied to ${staged}`));
      }
      await judge(new OriginFolder(staged), []);
      goOn(dist, signal);
      return await place(staged, join(above, type, version), dist);
    } finally {
      await rm(staged, { recursive: true, force: true });
    }
  }
}

/**
 * Creates a staging folder on the same file system, under a name that the
 * mirror never requests. Leftovers of killed processes are deleted after a day.
 */
async function stage(namespace: string, version: Version): Promise<string> {
  const names = await readdir(namespace).catch(refuse(namespace));
  for (const name of names.filter((one) => /^\..*\.partial$/.test(one))) {
    const left = join(namespace, name);
    const { mtimeMs } = await stat(left).catch(() => ({ mtimeMs: Infinity }));
    if (Date.now() - mtimeMs > dayMs)
      await rm(left, { recursive: true, force: true });
  }
  const staged = join(namespace, `.${version}.${crypto.randomUUID()}.partial`);
  await makeFolder(staged);
  return staged;
}

const dayMs = 86_400_000;

/**
 * Creates a folder that the daemon, which runs as another user, can read under
 * any umask.
 */
async function makeFolder(folder: string): Promise<void> {
  try {
    await mkdir(folder);
    const { mode } = await stat(folder);
    await chmod(folder, (mode & 0o7777) | 0o555);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== "EEXIST")
      refuse(folder)(error);
  }
}

async function copyDurably(from: string, to: string): Promise<void> {
  await copyFile(from, to);
  await using file = await open(to, "r+");
  await file.chmod(0o644);
  await file.sync();
}

/** Throws an input error where another release has the place. */
async function place(staged: string, path: string, { release }: Dist) {
  const above = dirname(path);
  await makeFolder(above);
  try {
    await rename(staged, path);
    await using folder = await open(above);
    await folder.sync();
    return "published";
  } catch (error) {
    const { code = "" } = error as NodeJS.ErrnoException;
    if (code !== "ENOTEMPTY" && code !== "EEXIST") refuse(path)(error);
    const [ours, theirs] = await Promise.all(
      [staged, path].map((folder) =>
        digestOf(new OriginFolder(folder), [release.checksums]),
      ),
    );
    return expectSame(path, ours, theirs);
  }
}

function refuse(path: string, what = "made") {
  return (cause: unknown): never => {
    const problem = `it cannot be ${what} (${describeFailure(cause)})`;
    throw failure("input", path, problem, "check the directory and its disk", {
      cause,
    });
  };
}

/** Throws an input error once it is to end. */
function goOn({ folder, parts }: Dist, { aborted }: AbortSignal): void {
  if (!aborted) return;
  const from = folder.show(parts);
  throw failure("input", from, "it was interrupted", "publish it again");
}

/** Throws an input error where SHA256SUMS have another digest at `path`. */
function expectSame(
  path: string,
  ours: string | undefined,
  theirs = "of nothing",
): "present" {
  if (ours === theirs) return "present";
  throw failure(
    "input",
    path,
    `it is there with other content (SHA256SUMS ${theirs}, not ${ours}), and a version is published once`,
    "make a new one",
  );
}
