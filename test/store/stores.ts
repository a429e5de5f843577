import { layOutStore, type StoreLayout } from "../../src/store/layout.ts";
import { prepareStorageDirectory } from "../../src/store/storage-directory.ts";
import { scratch } from "../running-mirror.ts";

/** A storage directory of its own, ready for stores. */
export async function makeLayout(): Promise<StoreLayout> {
  const layout = layOutStore(scratch("store"));
  await prepareStorageDirectory(layout);
  return layout;
}
