import { isSha256 } from "../../address/hash.ts";
import {
  BundleFile,
  type BundleLimits,
} from "../../mirror/bundles/bundle-file.ts";
import { failure } from "../../errors/index.ts";
import {
  importBundle,
  type ImportParts,
} from "../../mirror/bundles/import-bundle.ts";

interface ImportOptions {
  readonly file: string;
  readonly bundle: BundleFile;
  readonly signal: AbortSignal;
}

/** Opens the bundle of `provender import`, and says where nothing vouches for the names in it. `sha256` is what `export` printed on the other side. */
export async function openBundle(
  file: string,
  sha256: string | undefined,
  limits: BundleLimits,
  stderr: (text: string) => void,
): Promise<BundleFile> {
  if (sha256 !== undefined && !isSha256(sha256.toLowerCase()))
    throw failure(
      "arguments",
      "--sha256",
      "it is not a SHA-256",
      'give the 64 hex digits that "provender export" printed',
    );
  const bundle = await BundleFile.open(file, limits, sha256?.toLowerCase());
  // Publishers sign digests, not the names that a manifest gives them.
  if (sha256 === undefined)
    stderr(
      `Nothing vouches for the names in ${file}: where it is the first of a namespace, give --sha256 with what export printed.\n`,
    );
  return bundle;
}

/** `provender import FILE`: returns the exit status, 1 when some release was refused, and each is named with the reason. Closes the bundle. */
export async function runImport(
  parts: ImportParts,
  { file, bundle, signal }: ImportOptions,
  stderr: (text: string) => void,
): Promise<number> {
  const done = { releases: 0, added: 0, present: 0, refused: 0 };
  try {
    for await (const one of importBundle(parts, bundle, signal)) {
      if ("refused" in one) {
        done.refused++;
        stderr(`provender: ${one.name}: ${one.refused.message}\n`);
        continue;
      }
      done.releases++;
      done.added += one.added.length;
      done.present += one.present;
      stderr(`${one.name}: ${describe(one)}\n`);
      for (const sha256 of one.added) await parts.hashes.wait(sha256);
    }
  } catch (error) {
    if (!(error instanceof Error && "syscall" in error)) throw error;
    stderr(
      `The store cannot be written (${error.message}): make room, then run the same command again to go on.\n`,
    );
    return 1;
  } finally {
    await bundle.close();
    stderr(
      `${file}: ${done.releases} releases, ${done.added} archives imported, ${done.present} already there, ${done.refused} releases refused\n`,
    );
  }
  return done.refused === 0 ? 0 : 1;
}

function describe({
  added,
  present,
}: {
  readonly added: readonly unknown[];
  readonly present: number;
}): string {
  if (added.length === 0) return `${present} archives already there`;
  return present === 0
    ? `${added.length} archives imported`
    : `${added.length} archives imported, ${present} already there`;
}
