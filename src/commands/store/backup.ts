import { createReadStream } from "node:fs";
import { open, rm, stat } from "node:fs/promises";
import { pipeline } from "node:stream/promises";
import { loadConfiguration } from "../../config/load.ts";
import { failure, ProvenderError } from "../../errors/index.ts";
import { backUpDatabase } from "../../store/database/database.ts";
import { describeFailure } from "../../store/file-failure.ts";
import { stagingPath } from "../../store/layout.ts";
import { openStorageDirectory } from "../../store/storage-directory.ts";
import type { Flags } from "../command.ts";
import { stdout } from "../output/report.ts";
import { formatAmount } from "../output/table.ts";

/**
 * `provender backup FILE`: a consistent copy of the database, also beside a daemon. The file must not be there; it is
 * made as the user of the command, before that becomes the owner of the store.
 */
export async function backup({
  file: path,
  config,
}: Flags & { readonly file: string }): Promise<number> {
  const { storage, database } = loadConfiguration({ file: config });
  if (database.url !== undefined) throw failure("backup-elsewhere");
  try {
    await using target = await open(path, "wx", 0o600);
    try {
      const layout = await openStorageDirectory(storage.directory);
      const staged = stagingPath(layout, "backup");
      try {
        await backUpDatabase(layout, staged);
        const writing = target.createWriteStream({ flush: true });
        await pipeline(createReadStream(staged), writing);
        const { size } = await stat(staged);
        stdout(`${path} has the database, ${formatAmount(size)}.\n`);
        return 0;
      } finally {
        await rm(staged, { force: true });
      }
    } catch (error) {
      await rm(path, { force: true });
      throw error;
    }
  } catch (error) {
    if (error instanceof ProvenderError) throw error;
    const reason = describeFailure(error);
    throw failure("backup-unwritable", path, reason, { cause: error });
  }
}
