import { mkdir, readFile, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { pack, writeTar } from "./archives.ts";
import { setModes } from "./file-tree.ts";
import { formatLicenses } from "./licenses.ts";
import { root, run, type Source } from "./project.ts";

/**
 * Writes provender-VERSION.tgz, which needs a Node of its own, and returns its name; `folder` is for work on the way.
 * What it depends on is in it: npm fetches nothing else.
 */
export async function writeNpmTarball(
  source: Source,
  packages: readonly string[],
  folder: string,
  release: string,
): Promise<string> {
  await mkdir(folder, { recursive: true });
  const out = await run(
    "npm",
    ["pack", "--json", "--pack-destination", folder],
    { cwd: root },
  );
  const [packed] = JSON.parse(out.slice(out.indexOf("["))) as [
    { readonly filename: string },
  ];
  await run("tar", ["-xzf", join(folder, packed.filename), "-C", folder]);
  await addLicenses(join(folder, "package"), packages);
  const name = `provender-${source.version}.tgz`;
  await writeFile(join(release, name), await packAgain(folder, source));
  await rm(folder, { recursive: true });
  return name;
}

async function addLicenses(
  folder: string,
  packages: readonly string[],
): Promise<void> {
  const path = join(folder, "package.json");
  const manifest = JSON.parse(await readFile(path, "utf8")) as object;
  const all = {
    ...manifest,
    ...{ scripts: undefined, allowScripts: undefined },
    ...{ dependencies: undefined, devDependencies: undefined },
  };
  await writeFile(path, `${JSON.stringify(all, undefined, 2)}\n`);
  await writeFile(join(folder, "LICENSES"), await formatLicenses(packages));
}

/** Packs the folder "package" with modes that do not depend on who packs it. */
export async function packAgain(
  folder: string,
  source: Pick<Source, "epoch">,
): Promise<Buffer> {
  await setModes(join(folder, "package"));
  const tar = join(folder, "package.tar");
  await writeTar(folder, tar, source, ["package"]);
  return pack(await readFile(tar));
}
