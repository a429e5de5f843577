import type { Configuration } from "../../config/load.ts";
import { layOutStore, type StoreLayout } from "../../store/layout.ts";
import { prepareStorageDirectory } from "../../store/storage-directory.ts";
import { actAsOwner } from "../../store/storage-owner.ts";

/** Finds the store, and acts as its owner before anything in it is touched. */
function findLayout({ storage }: Configuration): StoreLayout {
  const layout = layOutStore(storage.directory);
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
