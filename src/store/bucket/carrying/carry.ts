import { forEach } from "../../../concurrency/for-each.ts";
import { BlobStore } from "../../blobs/blob-store.ts";
import type { StoreLayout } from "../../layout.ts";
import { BucketBlobs } from "../bucket-blobs.ts";
import { identifyCarried, type CarriedDirectory } from "../bucket-identity.ts";
import { BucketRecords } from "../bucket-records.ts";
import { BucketWatch } from "../bucket-watch.ts";
import type { Bucket } from "../bucket.ts";
import type { DirectoryLimits } from "../../storage-directory.ts";
import { ArchiveRoom } from "./archive-room.ts";
import { listArchivesToPull, listArchivesToPush } from "./carried-archives.ts";
import { listRecordsToPull, listRecordsToPush } from "./carried-records.ts";
import type { Carried, Outcome } from "./carried.ts";

export type Direction = "push" | "pull";

interface CarrySides {
  readonly bucket: Bucket;
  readonly layout: StoreLayout;
  /** Of the directory. */
  readonly limits: DirectoryLimits;
}

export interface CarryOptions {
  readonly signal: AbortSignal;
  readonly onListed: (total: number) => void;
  /** Called around each; the returned function when it is done. */
  readonly onBegun: (one: Carried) => (outcome: Outcome["kind"]) => void;
}

/** Something that is not the same on both sides now. */
interface CarryProblem extends Pick<Carried, "kind" | "name"> {
  readonly problem: string;
}

interface CarryCount {
  readonly records: number;
  readonly archives: number;
  readonly bytes: number;
}

export interface CarryReport {
  /** Which store the bucket has. */
  readonly store: string;
  /** What was looked at, and what of it was written. */
  readonly found: CarryCount;
  readonly written: CarryCount;
  /** What stays in the bucket, because the directory has no room for it. */
  readonly left: CarryCount;
  /** Both sides have one, and the one that was there stays. */
  readonly differences: readonly CarryProblem[];
  /** What cannot be believed, and is not carried. */
  readonly problems: readonly CarryProblem[];
}

/** Things that are carried at once. */
const atOnce = 16;

/**
 * Brings everything that a directory has into a bucket, or back: nothing that is
 * there is overwritten, and what was carried already is not written again, so
 * that it can be run again after it was stopped. A directory gets no more archives
 * than it has room for. One of which everything is in the bucket is that of a
 * replica from then on. Throws BucketForeign,
 * BucketUnproven, BucketRefuses, BucketUnreachable and StoreFull.
 */
export async function carry(
  direction: Direction,
  sides: CarrySides,
  { signal, onListed, onBegun }: CarryOptions,
): Promise<CarryReport> {
  const { bucket, layout } = sides;
  const begins = direction === "push";
  const directory = await identifyCarried(bucket, layout, { begins });
  const { identity, isReplicas } = directory;
  // So that a later run knows that what it wrote earlier was seen in the bucket.
  if (direction === "pull" && isReplicas) await directory.adopt();
  const lists = await list(direction, sides, directory);
  onListed(lists.flat().length);
  const outcomes = new Map<Carried, Outcome>();
  for (const some of lists)
    await forEach(some, { atOnce, signal }, async (one) => {
      const end = onBegun(one);
      const outcome = await one.carry();
      outcomes.set(one, outcome);
      end(outcome.kind);
    });
  const report = makeReport(identity.store, outcomes);
  const isReplicasNow = [...outcomes.values()].every(
    ({ kind }) => kind === "written" || kind === "same" || kind === "left",
  );
  if (isReplicasNow) await directory.adopt();
  return report;
}

/** One list after the other. */
async function list(
  direction: Direction,
  { bucket, layout, limits }: CarrySides,
  { identity, isReplicas }: CarriedDirectory,
): Promise<readonly (readonly Carried[])[]> {
  const { store, etagForm } = identity;
  const records = new BucketRecords(bucket, etagForm, () => undefined);
  const sides = {
    ...{ layout, records },
    blobs: new BlobStore(layout),
    shared: new BucketBlobs(bucket),
  };
  if (direction === "pull") {
    // What was seen and decided comes whole; archives have what room is left.
    const room = new ArchiveRoom(layout, sides.blobs, limits);
    return [
      await listRecordsToPull(sides, { isReplicas }),
      await listArchivesToPull(sides, room),
    ];
  }
  const watch = new BucketWatch(bucket, store, untold);
  await watch.begin();
  return [
    await listArchivesToPush(sides),
    await listRecordsToPush(sides, () => watch.bump()),
  ];
}

const untold = { onProblem: () => undefined };

function makeReport(
  store: string,
  outcomes: ReadonlyMap<Carried, Outcome>,
): CarryReport {
  const all = [...outcomes];
  const problemsOf = (wanted: "differs" | "bad") =>
    all.flatMap(([{ kind, name }, outcome]) =>
      outcome.kind === wanted ? [{ kind, name, problem: outcome.problem }] : [],
    );
  const those = (wanted: Outcome["kind"]) =>
    count(all.flatMap(([one, { kind }]) => (kind === wanted ? [one] : [])));
  return {
    store,
    found: count(all.map(([one]) => one)),
    written: those("written"),
    left: those("left"),
    differences: problemsOf("differs"),
    problems: problemsOf("bad"),
  };
}

function count(all: readonly Carried[]): CarryCount {
  const archives = all.filter(({ kind }) => kind === "archive");
  return {
    records: all.length - archives.length,
    archives: archives.length,
    bytes: archives.reduce((sum, { size }) => sum + size, 0),
  };
}
