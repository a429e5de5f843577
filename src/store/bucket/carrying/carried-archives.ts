import type { Sha256 } from "../../../address/hash.ts";
import { isFailure } from "../../../errors/index.ts";
import type { BlobStore } from "../../blobs/blob-store.ts";
import type { BucketBlobs } from "../bucket-blobs.ts";
import { same, written, type Carried, type Outcome } from "./carried.ts";

interface ArchiveSides {
  readonly blobs: BlobStore;
  readonly shared: BucketBlobs;
}

/** The archives of a directory, on their way into a bucket. */
export async function listArchivesToPush({
  blobs,
  shared,
}: ArchiveSides): Promise<readonly Carried[]> {
  const there = await sizesOf(shared);
  const all: Carried[] = [];
  for await (const { sha256, size } of blobs.list()) {
    if (sha256 === undefined) continue;
    const carry = () =>
      there.get(sha256) === size ? same : push({ blobs, shared }, sha256);
    all.push(describe(sha256, size, async () => carry()));
  }
  return all;
}

function describe(
  sha256: Sha256,
  size: number,
  carry: () => Promise<Outcome>,
): Carried {
  return { kind: "archive", name: sha256, size, carry };
}

async function sizesOf(
  shared: BucketBlobs,
): Promise<ReadonlyMap<Sha256, number>> {
  const sizes = new Map<Sha256, number>();
  for await (const { sha256, size } of shared.list()) sizes.set(sha256, size);
  return sizes;
}

async function push(
  { blobs, shared }: ArchiveSides,
  sha256: Sha256,
): Promise<Outcome> {
  const blob = await blobs.open(sha256);
  if (blob === undefined) return same;
  await using handle = blob.handle;
  try {
    await blobs.verify(blob);
  } catch (error) {
    const isBad = isFailure(
      error,
      "stored-archive-damaged",
      "stored-archive-unreadable",
    );
    if (!isBad) throw error;
    return { kind: "bad", problem: error.problem };
  }
  await shared.put(sha256, handle, blob.size);
  return written;
}
