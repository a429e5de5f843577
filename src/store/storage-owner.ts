import { statSync } from "node:fs";
import { failure } from "../errors/index.ts";
import type { StoreLayout } from "./layout.ts";

/**
 * Makes this process act as the owner of a store, so that a daemon can use every
 * file that it leaves there: started as root, it takes the owner's user and group
 * for good, without other groups and without capabilities. Nothing happens where
 * there is no store yet, nor where users have no numbers. Throws
 * store-owned-by-another for any other user but the owner.
 */
export function actAsOwner(layout: StoreLayout): void {
  const user = process.geteuid?.();
  const owner = findOwner(layout);
  if (user === undefined || owner === undefined || owner.uid === user) return;
  try {
    process.setgroups?.([owner.gid]);
    process.setgid?.(owner.gid);
    process.setuid?.(owner.uid);
  } catch (cause) {
    const { directory } = layout;
    throw failure("store-owned-by-another", directory, owner.uid, user, {
      cause,
    });
  }
}

/** Returns the owner of the database, or else of its directory. */
function findOwner({ database, directory }: StoreLayout) {
  return ownerOf(database) ?? ownerOf(directory);
}

/** Undefined for what is not there or not to be seen, which the folder above it tells. */
function ownerOf(path: string) {
  try {
    const { uid, gid } = statSync(path);
    return { uid, gid };
  } catch {
    return undefined;
  }
}
