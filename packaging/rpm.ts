import { copyFile, mkdir, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { fill, setModes, type FileTree } from "./file-tree.ts";
import { root, run, type Source } from "./project.ts";

/** Nothing of the machine that builds: its name, its time, its changes to files. */
const settings = {
  _buildhost: "localhost",
  use_source_date_epoch_as_buildtime: "1",
  clamp_mtime_to_source_date_epoch: "1",
  __os_install_post: "%{nil}",
  debug_package: "%{nil}",
  _build_id_links: "none",
};

/** Writes provender-VERSION-1.x86_64.rpm into `release` and returns its name; `folder` is for work on the way. */
export async function writeRpm(
  { version, epoch, level }: Source,
  tree: FileTree,
  folder: string,
  release: string,
): Promise<string> {
  await mkdir(folder, { recursive: true });
  await setModes(tree.folder);
  const template = join(root, "packaging/rpm/provender.spec");
  const spec = join(folder, "provender.spec");
  const values = { VERSION: version, TREE: tree.folder };
  await writeFile(spec, fill(await readFile(template, "utf8"), values));
  const defined = Object.entries({
    ...settings,
    _binary_payload: `w${level}.gzdio`,
    _topdir: folder,
  });
  await run(
    "rpmbuild",
    [
      "-bb",
      "--target=x86_64",
      ...defined.flatMap(([name, value]) => ["--define", `${name} ${value}`]),
      spec,
    ],
    { env: { ...process.env, SOURCE_DATE_EPOCH: String(epoch) } },
  );
  const name = `provender-${version}-1.x86_64.rpm`;
  await copyFile(join(folder, "RPMS/x86_64", name), join(release, name));
  return name;
}
