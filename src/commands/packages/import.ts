import { isSha256 } from "../../address/hash.ts";
import { loadConfiguration } from "../../config/load.ts";
import { failure } from "../../errors/index.ts";
import { openBundle } from "../../mirror/bundles/bundle-file.ts";
import { importBundle } from "../../mirror/bundles/import-bundle.ts";
import { type Flags, onStore } from "../command.ts";
import { stderr } from "../output/report.ts";
import { measureStore } from "./fetch.ts";

/** `provender import FILE`: returns 1 when some release was refused, and each is named with the reason. `sha256` is what `export` printed on the other side. */
export async function importFile({
  file,
  sha256,
  ...flags
}: Flags & {
  readonly file: string;
  readonly sha256?: string;
}): Promise<number> {
  const digest = sha256?.toLowerCase();
  if (digest !== undefined && !isSha256(digest))
    throw failure(
      "arguments",
      "--sha256",
      "it is not a SHA-256",
      'give the 64 hex digits that "provender export" printed',
    );
  const { limits } = loadConfiguration({ file: flags.config });
  // As the user of the command: opening the store takes its owner's.
  const bundle = await openBundle(file, limits.archive, digest);
  // Publishers sign digests, not the names that a manifest gives them.
  if (digest === undefined)
    stderr(
      `Nothing vouches for the names in ${file}: where it is the first of a namespace, give --sha256 with what export printed.\n`,
    );
  const done = { releases: 0, added: 0, present: 0, refused: 0 };
  return onStore(flags, async (mirror, signal) => {
    await measureStore(mirror);
    try {
      for await (const one of importBundle(mirror, bundle, signal)) {
        if ("refused" in one) {
          done.refused++;
          stderr(`provender: ${one.name}: ${one.refused.message}\n`);
          continue;
        }
        const { name, added, present } = one;
        done.releases++;
        done.added += added;
        done.present += present;
        const told = `${added} archives imported, ${present} already there`;
        stderr(`${name}: ${told}\n`);
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
  });
}
