import { mkdir, readdir, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { sha256 } from "./archives.ts";
import {
  formatBillOfMaterials,
  formatProvenance,
} from "./bill-of-materials.ts";
import { writeBundle } from "./bundle.ts";
import { writeDeb } from "./deb.ts";
import { writeExecutable } from "./executable.ts";
import { makePackageTree, makeProgramTree } from "./file-tree.ts";
import { writeImage } from "./image.ts";
import { writeNpmTarball } from "./npm.ts";
import { readSource, root } from "./project.ts";
import { writeRpm } from "./rpm.ts";

// `npm run package`: writes every form in which provender is released, the same bytes each time for one commit.
const { values } = parseArgs({
  options: {
    to: { type: "string", default: join(root, "release") },
    version: { type: "string" },
    level: { type: "string", default: "6" },
    only: { type: "string", multiple: true },
  },
});

const release = values.to;
await rm(release, { recursive: true, force: true });
const work = join(release, "work");
await mkdir(work, { recursive: true });

const source = await readSource(values.version, Number(values.level));
const app = join(work, "app");
const { packages } = await writeBundle(app, source.version);

const writers = {
  deb: async () => {
    const tree = await makePackageTree(join(work, "deb-tree"), app, packages);
    return writeDeb(source, tree, join(work, "deb"), release);
  },
  rpm: async () => {
    const tree = await makePackageTree(join(work, "rpm-tree"), app, packages);
    return writeRpm(source, tree, join(work, "rpm"), release);
  },
  image: async () => {
    const tree = await makeProgramTree(join(work, "image-tree"), app);
    return writeImage(source, tree, join(work, "image"), release);
  },
  executable: () => writeExecutable(source, app, work, release),
  npm: () => writeNpmTarball(source, packages, join(work, "npm"), release),
};
for (const [kind, write] of Object.entries(writers))
  if (values.only?.includes(kind) ?? true) await write();
await rm(work, { recursive: true });

const bill = await formatBillOfMaterials(source, packages);
await writeFile(join(release, "provender.cdx.json"), bill);
const outputs = await sumAll();
const lockFile = join(root, "package-lock.json");
const provenance = await formatProvenance(source, lockFile, outputs);
await writeFile(join(release, "provenance.json"), provenance);
const sums = Object.entries(await sumAll())
  .map(([name, sum]) => `${sum}  ${name}\n`)
  .join("");
await writeFile(join(release, "SHA256SUMS"), sums);
process.stdout.write(sums);

async function sumAll(): Promise<Record<string, string>> {
  const names = (await readdir(release)).sort();
  const sums = names.map(
    async (name) => [name, await sha256(join(release, name))] as const,
  );
  return Object.fromEntries(await Promise.all(sums));
}
