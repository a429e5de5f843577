import { execFile } from "node:child_process";
import { readdirSync } from "node:fs";
import { join } from "node:path";
import { promisify } from "node:util";
import { effort } from "../effort.ts";
import { findOnPath } from "../on-path.ts";
import { scratch } from "../running-mirror.ts";

export const run = promisify(execFile);
/** Compression level, low because a release's level takes a minute. */
const level = effort > 1 ? "6" : "1";
const root = join(import.meta.dirname, "..", "..");

export type Kind = "deb" | "rpm" | "image" | "executable" | "npm";

/** Another machine, as far as a program can tell. */
const another = { TZ: "Asia/Tokyo", LANG: "de_DE.UTF-8", HOME: "/" };

/** Runs `npm run package` for one kind; `elsewhere` changes time zone, locale, home and umask. */
export async function makeRelease(
  kind: Kind,
  ending: string,
  {
    version,
    elsewhere = false,
  }: { version?: string; elsewhere?: boolean } = {},
): Promise<{ readonly folder: string; readonly file: string }> {
  const folder = scratch("release");
  const named = version === undefined ? [] : ["--version", version];
  const program = [process.execPath, "packaging/package.ts"];
  const asked = ["--to", folder, "--only", kind, "--level", level, ...named];
  const shell = ["-c", 'umask "$0" && exec "$@"', elsewhere ? "077" : "022"];
  await run("sh", [...shell, ...program, ...asked], {
    cwd: root,
    env: { ...process.env, ...(elsewhere && another) },
  });
  const name = readdirSync(folder).find((found) => found.endsWith(ending));
  if (name === undefined) throw new Error(`no ${ending} in ${folder}`);
  return { folder, file: join(folder, name) };
}

/** True where a program is there; says on standard error what is not tested without it. */
export const has = (program: string, what: string) =>
  findOnPath(program, what) !== undefined;

/** Packages are installed as root. */
export const isRoot = process.getuid?.() === 0;
