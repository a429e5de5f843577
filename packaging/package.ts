import { mkdir, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { sha256 } from "./archives.ts";
import { writeBundle } from "./bundle.ts";
import { writeDeb } from "./deb.ts";
import { makePackageTree } from "./file-tree.ts";
import { writeNpmTarball } from "./npm.ts";
import { readSource, root } from "./project.ts";

/** `npm run package`: writes every form in which provender is released, the same bytes each time for one commit. */
const { values } = parseArgs({
  options: {
    to: { type: "string", default: join(root, "release") },
    version: { type: "string" },
    only: { type: "string", multiple: true },
  },
});

const release = values.to;
await rm(release, { recursive: true, force: true });
const work = join(release, "work");
await mkdir(work, { recursive: true });

const source = await readSource(values.version);
const bundle = await writeBundle(join(work, "app"), source.version);
const tree = await makePackageTree(
  join(work, "tree"),
  bundle.folder,
  bundle.packages,
);
const writers = {
  deb: () => writeDeb(source, tree, join(work, "deb"), release),
  npm: () => writeNpmTarball(source, release),
};

const names: string[] = [];
for (const [kind, write] of Object.entries(writers))
  if (values.only?.includes(kind) ?? true) names.push(await write());
const sums = await Promise.all(
  names.map(async (name) => `${await sha256(join(release, name))}  ${name}\n`),
);
await writeFile(join(release, "SHA256SUMS"), sums.join(""));
await rm(work, { recursive: true });
process.stdout.write(sums.join(""));
