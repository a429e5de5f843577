import { isFailure } from "../../../errors/index.ts";
import type { BlobStore, StoredBlob } from "../../blobs/blob-store.ts";
import { isTrust, type StoreLayout } from "../../layout.ts";
import { listRecords } from "../../records/listing.ts";
import { readSettled } from "../../records/record-copies.ts";
import type { Sealed } from "../../records/seal.ts";
import type { BucketBlobs } from "../bucket-blobs.ts";
import type { BucketRecords } from "../bucket-records.ts";

/**
 * Result of one item. `ahead`: both have it, and the directory's was changed
 * more often. `differs`: both have one, and the one at the destination stays.
 * `bad`: it is invalid, and stays.
 */
export type Outcome =
  | { readonly kind: "written" | "same" | "ahead" }
  | { readonly kind: "differs" | "bad"; readonly problem: string };

/** A record or an archive of a directory that is to be in a bucket, too. */
export interface Carried {
  readonly kind: "record" | "archive";
  /** The record's key or the archive's SHA-256. */
  readonly name: string;
  /** Bytes; 0 for records. */
  readonly size: number;
  /** Done again it writes nothing. Throws what the bucket and the disk throw. */
  carry(): Promise<Outcome>;
}

const written: Outcome = { kind: "written" };
const same: Outcome = { kind: "same" };

/** Lists the archives of a directory. */
export async function listArchives(
  blobs: BlobStore,
  shared: BucketBlobs,
): Promise<readonly Carried[]> {
  const listed = await Array.fromAsync(shared.list());
  const there = new Map(listed.map(({ sha256, size }) => [sha256, size]));
  const all = await Array.fromAsync(blobs.list());
  return all.flatMap(({ sha256, size }) => {
    if (sha256 === undefined) return [];
    const carry = async () => {
      if (there.get(sha256) === size) return same;
      const blob = await blobs.open(sha256);
      return blob === undefined ? same : push(blobs, shared, blob);
    };
    return [{ kind: "archive", name: sha256, size, carry }];
  });
}

/** Lists the records of a directory; those in the bucket stay. `onTrust` is called after each record of trust. */
export async function listRecordsToPush(
  layout: StoreLayout,
  records: BucketRecords,
  onTrust: () => Promise<void>,
): Promise<readonly Carried[]> {
  const there = new Set<string>();
  for await (const key of records.listAll()) there.add(key.join("/"));
  const all = await Array.fromAsync(listRecords(layout));
  return all.map((key) => {
    const name = key.join("/");
    const carry = async (): Promise<Outcome> => {
      const here = await readSettled(layout, key);
      if (here.kind === "absent") return same;
      if (here.kind === "bad") return here;
      if (!there.has(name) && (await records.bring(key, here.sealed))) {
        if (isTrust(key)) await onTrust();
        return written;
      }
      const found = await records.look(key);
      if (found.kind === "bad") return found;
      return found.kind === "absent"
        ? { kind: "bad", problem: "it left the bucket meanwhile" }
        : compare(here.sealed, found.sealed);
    };
    return { kind: "record", name, size: 0, carry };
  });
}

async function push(
  blobs: BlobStore,
  shared: BucketBlobs,
  blob: StoredBlob,
): Promise<Outcome> {
  await using handle = blob.handle;
  try {
    await blobs.verify(blob);
  } catch (error) {
    const codes = [
      "stored-archive-damaged",
      "stored-archive-unreadable",
    ] as const;
    if (!isFailure(error, ...codes)) throw error;
    return { kind: "bad", problem: error.problem };
  }
  await shared.put(blob.sha256, handle, blob.size);
  return written;
}

function compare(local: Sealed, shared: Sealed): Outcome {
  if (local.body !== shared.body)
    return { kind: "differs", problem: "the bucket has another, which stays" };
  return { kind: local.revision > shared.revision ? "ahead" : "same" };
}
