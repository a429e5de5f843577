import { createHash } from "node:crypto";
import { cp, mkdir, readFile, writeFile } from "node:fs/promises";
import { join, relative } from "node:path";
import { pack } from "./archives.ts";
import { fill, measure, setModes, type FileTree } from "./file-tree.ts";
import { listFiles, root, run, type Source } from "./project.ts";

const templates = join(root, "packaging/debian");
const maintainer = "The provender authors <provender@users.noreply.github.com>";
const scripts = ["postinst", "prerm", "postrm"];

/** Writes provender_VERSION_amd64.deb into `release` and returns its name; `folder` is for work on the way. */
export async function writeDeb(
  source: Source,
  tree: FileTree,
  folder: string,
  release: string,
): Promise<string> {
  const { version, epoch, level } = source;
  await cp(tree.folder, folder, { recursive: true, verbatimSymlinks: true });
  const overrides = join(folder, "usr/share/lintian/overrides");
  await mkdir(overrides, { recursive: true });
  await cp(join(templates, "lintian-overrides"), join(overrides, "provender"));
  const documents = join(folder, "usr/share/doc/provender");
  await cp(join(templates, "copyright"), join(documents, "copyright"));
  await writeFile(
    join(documents, "changelog.gz"),
    pack(formatChangelog(source)),
  );
  await writeControl(folder, version);
  await setModes(folder);
  const name = `provender_${version}_amd64.deb`;
  const compression = ["-Zgzip", `-z${level}`, "--root-owner-group"];
  await run(
    "dpkg-deb",
    [...compression, "--build", folder, join(release, name)],
    { env: { ...process.env, SOURCE_DATE_EPOCH: String(epoch) } },
  );
  return name;
}

async function writeControl(folder: string, version: string): Promise<void> {
  const files = await listFiles(folder);
  const size = Math.ceil((await measure(files)) / 1024);
  const control = join(folder, "DEBIAN");
  await mkdir(control);
  const template = await readFile(join(templates, "control"), "utf8");
  const filled = fill(template, {
    VERSION: version,
    SIZE: String(size),
    MAINTAINER: maintainer,
  });
  await writeFile(join(control, "control"), filled);
  await writeFile(join(control, "conffiles"), "/etc/provender/config.yaml\n");
  await writeFile(join(control, "md5sums"), await sum(folder, files));
  for (const script of scripts)
    await cp(join(templates, script), join(control, script));
}

async function sum(folder: string, files: readonly string[]): Promise<string> {
  const lines = files
    .map((file) => relative(folder, file))
    .filter((path) => !path.startsWith("etc/"))
    .map(async (path) => {
      const bytes = await readFile(join(folder, path));
      return `${createHash("md5").update(bytes).digest("hex")}  ${path}\n`;
    });
  return (await Promise.all(lines)).join("");
}

/** As Debian wants it: deb-changelog(5). */
function formatChangelog({ version, epoch }: Source): string {
  const date = new Date(epoch * 1000).toUTCString().replace("GMT", "+0000");
  return `provender (${version}) unstable; urgency=medium\n\n  * What changed is in CHANGELOG.md beside this file.\n\n -- ${maintainer}  ${date}\n`;
}
