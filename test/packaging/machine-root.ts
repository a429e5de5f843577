import { globSync } from "node:fs";
import { mkdir, writeFile } from "node:fs/promises";
import { basename, join } from "node:path";
import { scratch } from "../running-mirror.ts";
import { run } from "./release.ts";

/** Packages that ours needs in a Debian root beside the essential ones. */
const added = "adduser passwd libstdc++6 libgcc-s1 ca-certificates".split(" ");

/** Roots to install in: those of Debian that PROVENDER_DEBIAN_ROOTS has as SUITE.tar, with what ours needs, else a copy of this machine. */
export function listRoots(): readonly [string, () => Promise<string>][] {
  const folder = process.env.PROVENDER_DEBIAN_ROOTS;
  const packed = folder === undefined ? [] : globSync(join(folder, "*.tar"));
  if (packed.length === 0) return [["a copy of this machine", copyMachineRoot]];
  return packed.map((file) => [basename(file), () => unpack(file)]);
}

async function unpack(file: string): Promise<string> {
  const root = scratch("root");
  await run("tar", ["-C", root, "--exclude=./dev/*", "-xf", file]);
  return root;
}

/** A root of the packages of this machine that a minimal Debian has; no network is needed. */
export async function copyMachineRoot(): Promise<string> {
  const root = scratch("root");
  const packages = await listPackages();
  const { stdout } = await run("dpkg", ["--listfiles", ...packages], {
    maxBuffer: 64 * 1024 * 1024,
  });
  const unwanted = /^\/usr\/share\/(?:doc|man|locale|info|zoneinfo)\//;
  const paths = stdout
    .split("\n")
    .filter((path) => path.startsWith("/") && !unwanted.test(path));
  const listed = join(scratch("list"), "paths");
  await writeFile(listed, [...new Set(paths)].join("\n"));
  await run("sh", [
    "-c",
    `for link in bin sbin lib lib64; do [ -L /$link ] && mkdir -p ${root}/usr/$link && ln -s usr/$link ${root}/$link; done; tar -C / --no-recursion --ignore-failed-read -cf - -T ${listed} 2>/dev/null | tar -C ${root} -xf - --keep-directory-symlink`,
  ]);
  await addDatabases(root);
  return root;
}

async function listPackages(): Promise<readonly string[]> {
  const shown = ["-W", "-f=${Package} ${Essential} ${db:Status-Abbrev}\\n"];
  const { stdout } = await run("dpkg-query", shown);
  const essential = stdout
    .split("\n")
    .flatMap((line) => /^(\S+) yes ii/.exec(line)?.[1] ?? []);
  const { stdout: needed } = await run("apt-cache", [
    ...["depends", "--recurse", "--installed", "--no-recommends"],
    ...["--no-suggests", "--no-conflicts", "--no-breaks", "--no-replaces"],
    ...["--no-enhances", ...essential, ...added],
  ]);
  const all = needed.split("\n").filter((line) => /^[a-z0-9]/.test(line));
  const known = new Set(stdout.split("\n").map((line) => line.split(" ")[0]));
  return [...new Set(all)].filter((name) => known.has(name));
}

/** The users of every Debian, and dpkg's record of what is installed here. */
async function addDatabases(root: string): Promise<void> {
  const copy = (from: string, to: string) =>
    run("cp", ["--recursive", from, join(root, to)]);
  for (const folder of ["tmp", "proc", "dev", "var/lib/dpkg/updates"])
    await mkdir(join(root, folder), { recursive: true });
  for (const name of ["passwd", "group"])
    await copy(`/usr/share/base-passwd/${name}.master`, `etc/${name}`);
  await writeFile(join(root, "etc/shadow"), "");
  await copy("/var/lib/dpkg/status", "var/lib/dpkg/status");
  // The scripts of others are not run here.
  const info = join(root, "var/lib/dpkg/info");
  await mkdir(info, { recursive: true });
  const lists = globSync("/var/lib/dpkg/info/*.list");
  await run("cp", [...lists, info]);
}
