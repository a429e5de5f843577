import {
  BundleFile,
  type BundleLimits,
} from "../../mirror/bundles/bundle-file.ts";
import type { openFile } from "../../mirror/bundles/readable-file.ts";
import {
  importBundle,
  type ImportParts,
} from "../../mirror/bundles/import-bundle.ts";

interface ImportOptions {
  readonly file: string;
  readonly limits: BundleLimits;
  /** Opens the file where it is; a file of this process by default. */
  readonly openFile?: typeof openFile;
  readonly signal: AbortSignal;
}

/**
 * `provender import FILE`: returns the exit status, 1 when some release was
 * refused, and each is named with the reason. Throws bundle-refused when the file
 * as such cannot be used; then nothing of it was imported.
 */
export async function runImport(
  parts: ImportParts,
  { file, limits, signal, openFile }: ImportOptions,
  stderr: (text: string) => void,
): Promise<number> {
  const bundle = await BundleFile.open(file, limits, openFile);
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
