import type { Sha256 } from "../../address/hash.ts";
import { failure } from "../../errors/index.ts";
import type { BlobStore } from "../../store/blobs/blob-store.ts";
import type { ModuleArchives } from "../modules/archives.ts";
import type { ModuleMirror } from "../modules/module-mirror.ts";
import { formatModuleRelease, isArchive } from "../modules/release.ts";
import type { BundleFile } from "./bundle-file.ts";
import type { BundledModule } from "./manifest.ts";

export interface ModuleImportParts {
  readonly modules: ModuleMirror;
  readonly moduleArchives: ModuleArchives;
  readonly blobs: BlobStore;
}

/** A release of a bundle, of a module or of a provider, that is in the store now; `name` has its version. */
export interface Imported {
  readonly name: string;
  /** Archives that were not stored before. */
  readonly added: readonly Sha256[];
  /** Archives that were stored already. */
  readonly present: number;
}

/**
 * Decides on one module as if an origin had offered it now: rules, and what clients get of it. Throws policy-denied, too-young,
 * origin-not-served, module-replaced and bundle-incomplete.
 */
export async function judgeModule(
  { modules, moduleArchives, blobs }: ModuleImportParts,
  bundle: BundleFile,
  one: BundledModule,
): Promise<BundledModule> {
  const { address, archive } = one;
  await modules.admit(address);
  const { sha256 } = archive;
  const isKnown = await moduleArchives.expectSame(address, archive);
  if (!bundle.carries(sha256) && (await blobs.size(sha256)) === undefined)
    throw failure("bundle-incomplete", formatModuleRelease(address));
  // A bundle cannot give other bytes to a commit that is known.
  return isKnown
    ? { address, archive: { ...archive, commit: undefined } }
    : one;
}

/**
 * Takes a module into the store as if it came from its registry: looked through, and pinned where it is the first content. Throws what `judgeModule` and `ModuleArchives.fetch` throw.
 */
export async function importModule(
  parts: ModuleImportParts,
  bundle: BundleFile,
  one: BundledModule,
  signal: AbortSignal,
): Promise<Imported> {
  const { address, archive } = await judgeModule(parts, bundle, one);
  const { sha256, commit, format, subdirectory } = archive;
  const name = formatModuleRelease(address);
  if (isArchive(await parts.moduleArchives.find(address)))
    return { name, added: [], present: 1 };
  const body = bundle.carries(sha256)
    ? bundle.read(sha256)
    : readStored(parts.blobs, one);
  const close = () => Promise.resolve();
  const opened = { body, size: bundle.sizeOf(sha256), commit, close };
  const start = {
    ...{ hostname: address.module.hostname, host: "the bundle" },
    ...{ format, subdirectory, place: undefined },
    checksum: { algorithm: "sha256", digest: sha256 } as const,
    open: () => Promise.resolve(opened),
  };
  await parts.moduleArchives.fetch(address, start, signal);
  return { name, added: [sha256], present: 0 };
}

/** Another module has the same archive. */
async function* readStored(
  blobs: BlobStore,
  { address, archive }: BundledModule,
): AsyncGenerator<Uint8Array> {
  const blob = await blobs.open(archive.sha256);
  if (blob === undefined)
    throw failure("bundle-incomplete", formatModuleRelease(address));
  yield* blob.handle.createReadStream() as AsyncIterable<Uint8Array>;
}
