import { formatModuleAddress } from "../../address/module-address.ts";
import { failure } from "../../errors/index.ts";
import { formatModuleRelease } from "../modules/release.ts";
import { makeFolders, placeDocument, readDocument } from "./export-folder.ts";
import {
  writeEach,
  type ExportedModule,
  type ExportParts,
  type FailedExport,
} from "./export-packages.ts";
import { placeArchive } from "./export-tree.ts";

/**
 * Writes modules below `modules/` of a tree, each as VERSION.FORMAT with its digest in VERSION.json. A tree that has
 * another content of a version keeps it.
 */
export function writeModules(
  directory: string,
  parts: Omit<ExportParts, "providers">,
  modules: readonly ExportedModule[],
  signal: AbortSignal,
): Promise<readonly FailedExport[]> {
  const named = modules.map(
    (one) => [formatModuleRelease(one.address), one] as const,
  );
  return writeEach(named, async (one) => {
    signal.throwIfAborted();
    await writeModule(directory, parts, one);
  });
}

async function writeModule(
  directory: string,
  parts: Omit<ExportParts, "providers">,
  { address: { module, version }, archive }: ExportedModule,
): Promise<void> {
  const name = formatModuleAddress(module).split("/");
  const folder = await makeFolders(
    directory,
    ["modules", ...name],
    parts.layout.directory,
  );
  const text = `${JSON.stringify(archive, null, 2)}\n`;
  const there = await readDocument(folder, `${version}.json`);
  if (there !== undefined && there !== text)
    throw failure(
      "export-failed",
      `${folder}/${version}.json`,
      `it is there and speaks of other content than SHA-256 ${archive.sha256}`,
    );
  const filename = `${version}.${archive.format}`;
  await placeArchive(folder, parts, { filename, sha256: archive.sha256 });
  await placeDocument(folder, `${version}.json`, text);
}
