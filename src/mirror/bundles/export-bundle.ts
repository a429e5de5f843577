import { createHash, hash } from "node:crypto";
import { open } from "node:fs/promises";
import { basename, dirname } from "node:path";
import { pipeline } from "node:stream/promises";
import { pack } from "tar-stream";
import { formatPlatform } from "../../address/platform.ts";
import { failure } from "../../errors/index.ts";
import type { BlobStore } from "../../store/blobs/blob-store.ts";
import type {
  ModuleArchive,
  ModuleReleaseAddress,
} from "../modules/release.ts";
import { formatRelease } from "../releases/release.ts";
import { type ExportedPackage, placeFile } from "./export-tree.ts";
import {
  type BundleContent,
  type BundledRelease,
  type BundleManifest,
  formatManifest,
  largestManifest,
  listDigests,
  manifestName,
  memberName,
} from "./bundle-file.ts";

/** One that clients may have and that is stored. */
interface ExportedModule {
  readonly address: ModuleReleaseAddress;
  readonly archive: ModuleArchive;
  /** Bytes. */
  readonly size: number;
}

/** Lists every package and module, and carries the archives that `since` does not list. */
export function planBundle(
  packages: readonly ExportedPackage[],
  modules: readonly ExportedModule[],
  since: BundleManifest | undefined,
): BundleManifest {
  const groups = Map.groupBy(packages, ({ request }) =>
    formatRelease(request.address),
  );
  const releases = [...groups.values()].map((group): BundledRelease => {
    const [{ request, release }] = group as [ExportedPackage];
    const offered = release.packages.values();
    return {
      ...{ ...request.address, proof: release.proof },
      platforms: [...offered.map(({ platform }) => platform)],
      archives: Object.fromEntries(
        group.map(({ found: { platform, sha256 } }) => [
          ...([formatPlatform(platform), sha256] as const),
        ]),
      ),
    };
  });
  const archives = [
    ...packages.map(({ found: { sha256 }, size }) => ({ sha256, size })),
    ...modules.map(({ archive: { sha256 }, size }) => ({ sha256, size })),
  ];
  const carried = new Map(archives.map((one) => [one.sha256, one]));
  for (const sha256 of since ? listDigests(since) : []) carried.delete(sha256);
  return {
    releases,
    modules: modules.map(({ address, archive }) => ({
      ...address,
      ...archive,
    })),
    contents: [...carried.values()],
  };
}

/**
 * Writes the whole bundle beside `path` and gives it its name at the end. Returns the size in
 * bytes and the SHA-256 of the manifest. Throws export-failed.
 */
export async function writeBundle(
  path: string,
  manifest: BundleManifest,
  blobs: BlobStore,
  signal: AbortSignal,
) {
  const text = formatManifest(manifest);
  if (Buffer.byteLength(text) > largestManifest)
    throw failure("export-failed", path, "it lists too much for one bundle");
  const tar = pack();
  const addMembers = async () => {
    const mtime = new Date(0);
    tar.entry({ name: manifestName, mtime }, text);
    for (const { size, sha256 } of manifest.contents) {
      await pipeline(
        readArchive(blobs, { sha256, size }, signal),
        tar.entry({ name: memberName(sha256), size, mtime }),
      );
    }
    tar.finalize();
  };
  let size = 0;
  await placeFile(dirname(path), basename(path), async (partial) => {
    await using handle = await open(partial, "wx");
    const file = handle.createWriteStream({ flush: true });
    addMembers().catch((error: unknown) => tar.destroy(error as Error));
    await pipeline(tar, file);
    size = file.bytesWritten;
  });
  return { size, sha256: hash("sha256", text) };
}

/** Reads an archive out of the store. Throws stored-archive-damaged for other bytes than the manifest, which is already written, announces. */
async function* readArchive(
  blobs: BlobStore,
  { sha256, size }: BundleContent,
  signal: AbortSignal,
): AsyncGenerator<Uint8Array> {
  const sum = createHash("sha256");
  const blob = await blobs.open(sha256);
  await using handle = blob?.handle;
  if (handle !== undefined && blob?.size === size) {
    const options = { autoClose: false, highWaterMark: 1024 * 1024 };
    const pieces = handle.createReadStream(options);
    for await (const piece of pieces as AsyncIterable<Uint8Array>) {
      signal.throwIfAborted();
      sum.update(piece);
      yield piece;
    }
  }
  const got = sum.digest("hex");
  if (got !== sha256)
    throw failure("stored-archive-damaged", sha256, `its SHA-256 is ${got}`);
}
