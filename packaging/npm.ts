import { rename } from "node:fs/promises";
import { join } from "node:path";
import { root, run, type Source } from "./project.ts";

/** Writes provender-VERSION.tgz, which needs a Node of its own, and returns its name. npm writes the same bytes for the same files. */
export async function writeNpmTarball(
  { version }: Source,
  release: string,
): Promise<string> {
  const out = await run(
    "npm",
    ["pack", "--json", "--pack-destination", release],
    { cwd: root },
  );
  const [packed] = JSON.parse(out.slice(out.indexOf("["))) as [
    { readonly filename: string },
  ];
  const name = `provender-${version}.tgz`;
  await rename(join(release, packed.filename), join(release, name));
  return name;
}
