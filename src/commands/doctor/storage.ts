import { constants, existsSync } from "node:fs";
import { access, rm, stat, statfs, writeFile } from "node:fs/promises";
import { dirname } from "node:path";
import { failure, isFailure, ProvenderError } from "../../errors/index.ts";
import { describeFailure } from "../../store/file-failure.ts";
import { stagingPath, type StoreLayout } from "../../store/layout.ts";
import { checkStoreVersion } from "../../store/store-version.ts";
import { actAsOwner } from "../../store/storage-owner.ts";
import { formatAmount } from "../output/figures.ts";
import { fail, failBy, good, type Check } from "./check.ts";

/** Bytes that are written to see whether the disk is full. */
const sample = 64 * 1024;

/** The storage directory as the daemon's user finds it; makes nothing that is not there. */
export async function examineStorage(
  layout: StoreLayout,
  minFree: number,
): Promise<readonly Check[]> {
  try {
    actAsOwner(layout);
  } catch (error) {
    if (!isFailure(error, "store-owned-by-another")) throw error;
    return [failBy("storage", error)];
  }
  const unusable = await examineVersion(layout);
  if (unusable !== undefined) return [unusable];
  const owner = await examineOwner(layout);
  const disk = await examineDisk(layout.directory, minFree);
  const checks = [owner, disk].filter((check) => check !== undefined);
  const isBad = checks.some(({ state }) => state === "fail");
  return isBad ? checks : [...checks, await examineWriting(layout)];
}

/**
 * Returns undefined where no newer program wrote the store. A path that is no
 * directory is reported too.
 */
async function examineVersion(layout: StoreLayout): Promise<Check | undefined> {
  const { directory } = layout;
  const there = findExisting(directory);
  if (!(await stat(there)).isDirectory())
    return failBy(
      "storage",
      failure("store-unusable", directory, `${there} is a file`),
    );
  try {
    await checkStoreVersion(layout);
    return undefined;
  } catch (error) {
    // An unreadable folder is reported with the folders.
    return error instanceof ProvenderError
      ? failBy("storage", error)
      : undefined;
  }
}

async function examineDisk(directory: string, minFree: number): Promise<Check> {
  const found = await statfs(findExisting(directory));
  const bytes = found.bavail * found.bsize;
  const left = `The disk of ${directory} has ${formatAmount(bytes)} left`;
  const remedy = `Make room there, or set "storage.maxSize"; until then archives that are not stored only pass through.`;
  if (found.files > 0 && found.ffree === 0)
    return fail("disk", `${left} and no inode for another file.`, remedy);
  return bytes < minFree
    ? fail(
        "disk",
        `${left}, less than ${formatAmount(minFree)} ("storage.minFree").`,
        remedy,
      )
    : good("disk", `${left}.`);
}

/** Undefined where all of the store is of one user. */
async function examineOwner(layout: StoreLayout): Promise<Check | undefined> {
  const folders = listFolders(layout).filter((folder) => existsSync(folder));
  const [first, ...others] = await Promise.all(
    folders.map(async (folder) => ({ folder, uid: (await stat(folder)).uid })),
  );
  const stray = others.find(({ uid }) => uid !== first?.uid);
  if (stray === undefined || first === undefined) return undefined;
  return fail(
    "storage",
    `${stray.folder} belongs to the user ${stray.uid}, and ${first.folder} to the user ${first.uid}.`,
    `Run chown -R on ${layout.directory}, with the user of the daemon.`,
  );
}

/**
 * Checks that the store can be written. In a store that does not exist yet
 * nothing is written.
 */
async function examineWriting(layout: StoreLayout): Promise<Check> {
  const { directory } = layout;
  const file = stagingPath(layout, "doctor");
  try {
    const folders = listFolders(layout).filter((folder) => existsSync(folder));
    const there = [findExisting(directory), ...folders];
    for (const folder of there)
      await access(folder, constants.R_OK | constants.W_OK | constants.X_OK);
    if (!existsSync(layout.staging))
      return good("storage", `${directory} can be made by the daemon.`);
    await writeFile(file, Buffer.alloc(sample), { flush: true });
    return good("storage", `${directory} can be written.`);
  } catch (error) {
    return fail(
      "storage",
      `${directory} cannot be read and written (${describeFailure(error)}).`,
      "Give it to the user of the daemon with chown -R and chmod -R u+rwX, and look at how its disk is mounted.",
    );
  } finally {
    await rm(file, { force: true }).catch(() => undefined);
  }
}

function listFolders(layout: StoreLayout): readonly string[] {
  const { directory, blobs, records, recordCopies, staging } = layout;
  const audit = dirname(layout.audit.requests);
  return [directory, blobs, records, recordCopies, staging, audit];
}

function findExisting(path: string): string {
  return existsSync(path) ? path : findExisting(dirname(path));
}
