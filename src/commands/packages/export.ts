import { formatProviderAddress } from "../../address/provider-address.ts";
import { loadConfiguration } from "../../config/load.ts";
import { failure } from "../../errors/index.ts";
import { openBundle } from "../../mirror/bundles/bundle-file.ts";
import { planBundle, writeBundle } from "../../mirror/bundles/export-bundle.ts";
import { writeOciLayouts } from "../../mirror/bundles/export-oci.ts";
import {
  type ExportedPackage,
  expectOutside,
  type FailedExport,
  listStored,
  writeTree,
} from "../../mirror/bundles/export-tree.ts";
import { type Flags, onStore } from "../command.ts";
import { stderr } from "../output/report.ts";
import { formatAmount } from "../output/table.ts";
import { fetchSelected, formatWanted, listFailures } from "./fetch.ts";
import { formatNotCarried } from "./module-packages.ts";
import { readLockFiles, type SelectionFlags } from "./selection.ts";

/**
 * `provender export --to PATH`: fetches what is not stored, as prefetch does, and writes what could be had: a bundle where
 * PATH ends in `.tar`, OCI image layouts where it ends in `.oci`, else a tree; with `--since` without the archives that the
 * bundle of that name lists. Returns 1 when something is missing, and each such thing is named.
 */
export async function exportPackages({
  to,
  since: sinceFile,
  ...flags
}: SelectionFlags & {
  readonly to: string;
  readonly since?: string;
}): Promise<number> {
  const isBundle = to.endsWith(".tar");
  if (sinceFile !== undefined && !isBundle)
    throw failure(
      "arguments",
      "--since",
      "only a bundle leaves anything out",
      "give a file that ends in .tar with --to",
    );
  const since =
    sinceFile === undefined ? undefined : await readBundled(flags, sinceFile);
  const lockFiles = await readLockFiles(flags);
  return onStore(flags, async (mirror, signal) => {
    const { blobs } = mirror;
    const stored = await listStored(mirror.layout.directory);
    await expectOutside(stored, to);
    const fetched = await fetchSelected(flags, lockFiles, mirror, signal, true);
    signal.throwIfAborted();
    const { modules, notCarried } = fetched;
    const problems = [...listFailures(fetched)];
    const ready: ExportedPackage[] = [];
    for (const { wanted, admitted } of fetched.results) {
      if (admitted === undefined) continue;
      const size = await blobs.size(admitted.found.sha256);
      if (size !== undefined) ready.push({ ...admitted, size });
      else
        problems.push(`${formatWanted(wanted)}: it left the store meanwhile\n`);
    }
    let failed: readonly FailedExport[] = [];
    if (!isBundle) {
      const write = to.endsWith(".oci") ? writeOciLayouts : writeTree;
      const { providers } = mirror;
      failed = await write(to, { providers, blobs, stored }, ready, signal);
    } else if (ready.length + modules.length > 0 || problems.length === 0) {
      // Nothing takes the place of an earlier bundle when nothing could be had.
      const manifest = planBundle(ready, modules, since);
      const { size, sha256 } = await writeBundle(to, manifest, blobs, signal);
      stderr(
        `${to} carries ${manifest.contents.length} archives in ${formatAmount(size)}.\n`,
      );
      stderr(
        `The SHA-256 of its manifest is ${sha256}: tell it the other side by another way than the file's, for import --sha256.\n`,
      );
    }
    for (const one of notCarried) stderr(formatNotCarried(one));
    stderr(problems.join(""));
    for (const { subject, error } of failed)
      stderr(`${subject}: ${error.message}\n`);
    if (modules.length > 0)
      stderr(
        isBundle
          ? `${modules.length} modules exported.\n`
          : `${modules.length} modules not exported: only a bundle carries modules.\n`,
      );
    const lost = new Set(failed.map(({ subject }) => subject));
    const written = ready.filter(
      ({ request }) => !lost.has(formatProviderAddress(request.provider)),
    );
    const left = problems.length + failed.length;
    stderr(`${written.length} packages exported, ${left} failed.\n`);
    return left === 0 ? 0 : 1;
  });
}

/** Reads what a bundle lists. Throws bundle-refused. */
async function readBundled({ config }: Flags, path: string) {
  const { limits } = loadConfiguration({ file: config });
  const bundle = await openBundle(path, limits.archive);
  await bundle.close();
  return bundle.manifest;
}
