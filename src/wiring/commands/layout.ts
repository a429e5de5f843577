import {
  loadConfiguration,
  systemFile,
  type Configuration,
} from "../../config/load.ts";
import { isFailure } from "../../errors/index.ts";
import { layOutStore, type StoreLayout } from "../../store/layout.ts";
import {
  findServedElsewhere,
  prepareStorageDirectory,
} from "../../store/storage-directory.ts";
import { actAsOwner } from "../../store/storage-owner.ts";

/** Finds the store, and acts as its owner before anything in it is touched. */
export function findLayout({ storage }: Configuration): StoreLayout {
  const layout = layOutStore(storage.directory);
  const other = findServedElsewhere(layout, listServiceDirectories());
  if (other !== undefined)
    process.stderr.write(
      `provender: This works on the store in ${layout.directory}, while the running daemon serves from ${other}: if that one is meant, give the command the daemon's configuration with its "storage.directory".\n`,
    );
  actAsOwner(layout);
  return layout;
}

/** The same, of a directory that is there and can be used. */
export async function openLayout(
  configuration: Configuration,
): Promise<StoreLayout> {
  const layout = findLayout(configuration);
  await prepareStorageDirectory(layout);
  return layout;
}

/** The file of this mirror's own CA, for the owner of the store. */
export function findAuthority(configuration: Configuration): string {
  return findLayout(configuration).tls.authority;
}

/**
 * Lists the stores of a packaged service: the one in the system's
 * configuration, and the unit's default.
 */
function listServiceDirectories(): readonly string[] {
  const unit = "/var/lib/provender";
  try {
    const { storage } = loadConfiguration({ file: systemFile });
    return [storage.directory, unit];
  } catch (error) {
    // The command that uses it reports its problems.
    if (!isFailure(error, "configuration")) throw error;
    return [unit];
  }
}
