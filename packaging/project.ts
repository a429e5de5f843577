import { execFile } from "node:child_process";
import { readdir, readFile } from "node:fs/promises";
import { join } from "node:path";
import { promisify } from "node:util";

const execute = promisify(execFile);

/** The folder of this project. */
export const root = join(import.meta.dirname, "..");

/** Source of a release; `epoch` is the time of its commit in seconds. */
export interface Source {
  readonly version: string;
  readonly commit: string;
  readonly epoch: number;
  /** Compression level, 1 (fast) to 9. */
  readonly level: number;
  /** True when files differ from the commit. */
  readonly changed: boolean;
}

/** `version` stands for that of package.json. */
export async function readSource(
  version: string | undefined,
  level: number,
): Promise<Source> {
  const text = await readFile(join(root, "package.json"), "utf8");
  const manifest = JSON.parse(text) as { readonly version: string };
  const git = async (...args: readonly string[]) =>
    (await run("git", ["-C", root, ...args])).trim();
  return {
    version: version ?? manifest.version,
    commit: await git("rev-parse", "HEAD"),
    epoch: Number(await git("log", "-1", "--format=%ct")),
    level,
    changed: (await git("status", "--porcelain")) !== "",
  };
}

/** All files below a folder, sorted by name. */
export async function listFiles(folder: string): Promise<readonly string[]> {
  const found = await readdir(folder, { recursive: true, withFileTypes: true });
  return found
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name))
    .sort();
}

/** Runs a program and returns its standard output; throws with its error output. */
export async function run(
  program: string,
  args: readonly string[],
  options: { readonly cwd?: string; readonly env?: NodeJS.ProcessEnv } = {},
): Promise<string> {
  const { stdout } = await execute(program, args, {
    maxBuffer: 64 * 1024 * 1024,
    ...options,
  });
  return stdout;
}
