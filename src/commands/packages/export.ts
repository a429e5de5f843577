import { hash } from "node:crypto";
import pLimit from "p-limit";
import { formatProviderAddress } from "../../address/provider-address.ts";
import { failure } from "../../errors/index.ts";
import {
  BundleFile,
  type BundleLimits,
} from "../../mirror/bundles/bundle-file.ts";
import {
  type ExportedModule,
  planBundle,
  writeBundle,
} from "../../mirror/bundles/export-bundle.ts";
import {
  expectOutside,
  listStored,
} from "../../mirror/bundles/export-folder.ts";
import { writeOciLayouts } from "../../mirror/bundles/export-oci.ts";
import {
  type ExportedPackage,
  type ExportParts,
  type FailedExport,
  writeTree,
} from "../../mirror/bundles/export-tree.ts";
import {
  type BundleManifest,
  formatManifest,
} from "../../mirror/bundles/manifest.ts";
import type { NotCarried } from "../inputs/modules.ts";
import { formatAmount } from "../output/table.ts";
import { formatNotCarried, ModulePackages } from "./module-packages.ts";
import { selectPackages, type SelectionInput } from "./package-selection.ts";
import {
  formatWanted,
  prefetchPackage,
  type PrefetchedPackage,
  type Prefetching,
} from "./prefetch-package.ts";

interface ExportOptions {
  readonly input: SelectionInput;
  /** A file that ends in `.tar` for a bundle, a folder that ends in `.oci` for OCI image layouts, another one for a tree. */
  readonly to: string;
  /** Of a bundle that the other side has. */
  readonly since: BundleManifest | undefined;
  readonly limits: BundleLimits;
}

type ExportedStore = Omit<ExportParts, "stored"> & {
  readonly layout: { readonly directory: string };
};

/**
 * `provender export --to PATH`: fetches what is not stored, as prefetch does, and writes what could be had. Returns the
 * exit status: 1 when something is missing, and each such thing is named. Throws nothing-asked, malformed-address and
 * export-failed.
 */
export async function runExport(
  { input, to, since, limits }: ExportOptions,
  parts: Prefetching & { readonly store: ExportedStore },
  stderr: (text: string) => void,
): Promise<number> {
  const { store, signal } = parts;
  const isBundle = to.endsWith(".tar");
  if (since !== undefined && !isBundle)
    throw failure(
      ...([
        "arguments",
        "--since",
        "only a bundle leaves anything out",
      ] as const),
      "give a file that ends in .tar with --to",
    );
  const stored = await listStored(store.layout.directory);
  await expectOutside(stored, to);
  const { ready, modules, notCarried, problems } = await gather(input, parts);
  let failed: readonly FailedExport[] = [];
  if (!isBundle) {
    const write = to.endsWith(".oci") ? writeOciLayouts : writeTree;
    const { providers, blobs } = store;
    failed = await write(to, { providers, blobs, stored }, ready, signal);
  } else if (ready.length + modules.length > 0 || problems.length === 0) {
    // Nothing takes the place of an earlier bundle when nothing could be had.
    const plan = planBundle(ready, modules, since);
    const most = limits.manifest;
    const size = await writeBundle(to, plan, store.blobs, { most, signal });
    const { proofs, archives } = plan.manifest;
    stderr(
      `${to} carries ${archives.length} archives and ${proofs.length} proofs in ${formatAmount(size)}.\n`,
    );
    stderr(
      `The SHA-256 of its manifest is ${hash("sha256", formatManifest(plan.manifest))}: tell it the other side by another way than the file's, for import --sha256.\n`,
    );
  }
  notCarried.map(formatNotCarried).forEach(stderr);
  for (const problem of problems) stderr(`${problem}\n`);
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
}

/** Reads what a bundle lists. Throws bundle-refused. */
export async function readBundled(path: string, limits: BundleLimits) {
  const bundle = await BundleFile.open(path, limits);
  await bundle.close();
  return bundle.manifest;
}

/** Packages that are looked at at once; the mirror bounds the downloads itself. */
const atOnce = 32;

async function gather(
  input: SelectionInput,
  parts: Prefetching & { readonly store: ExportedStore },
): Promise<{
  readonly ready: readonly ExportedPackage[];
  readonly modules: readonly ExportedModule[];
  readonly notCarried: readonly NotCarried[];
  readonly problems: readonly string[];
}> {
  const { progress, signal, store } = parts;
  try {
    const selection = await selectPackages(
      input,
      store.providers,
      new ModulePackages(parts.mirror, signal),
    );
    const { packages, modules, notCarried, problems } = selection;
    progress.expect(packages.length);
    const gathered = await pLimit(atOnce).map(packages, async (wanted) =>
      describe(await prefetchPackage(wanted, parts), store),
    );
    signal.throwIfAborted();
    const failed = gathered.filter((one) => typeof one === "string");
    return {
      ready: gathered.filter((one) => typeof one === "object"),
      modules,
      notCarried,
      problems: [...problems.map(({ message }) => message), ...failed],
    };
  } finally {
    progress.close();
  }
}

/**
 * Measures a package that is stored. Returns the reason in words where it is
 * missing, and undefined where it may be.
 */
async function describe(
  { wanted, admitted, outcome, error }: PrefetchedPackage,
  store: ExportedStore,
): Promise<ExportedPackage | string | undefined> {
  if (outcome === "absent" || outcome === "interrupted") return undefined;
  const failed = (reason: string) => `${formatWanted(wanted)}: ${reason}`;
  if (admitted === undefined) return failed(error?.message ?? "failed");
  const size = await store.blobs.size(admitted.found.sha256);
  return size === undefined
    ? failed("it left the store meanwhile")
    : { ...admitted, size };
}
