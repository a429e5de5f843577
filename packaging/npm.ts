import { mkdir, readFile, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { pack, writeTar } from "./archives.ts";
import { setModes } from "./file-tree.ts";
import { root, run, type Source } from "./project.ts";

/** Writes provender-VERSION.tgz, which needs a Node of its own, and returns its name; `folder` is for work on the way. */
export async function writeNpmTarball(
  source: Source,
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
  const name = `provender-${source.version}.tgz`;
  const made = await repack(join(folder, packed.filename), folder, source);
  await writeFile(join(release, name), made);
  await rm(folder, { recursive: true });
  return name;
}

/** The same files with modes that do not depend on who packs them. */
export async function repack(
  tarball: string,
  folder: string,
  source: Pick<Source, "epoch">,
): Promise<Buffer> {
  await run("tar", ["-xzf", tarball, "-C", folder]);
  await setModes(join(folder, "package"));
  const tar = join(folder, "package.tar");
  await writeTar(folder, tar, source, ["package"]);
  return pack(await readFile(tar));
}
