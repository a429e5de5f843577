import { forEach } from "../../../concurrency/for-each.ts";
import { BlobStore } from "../../blobs/blob-store.ts";
import type { StoreLayout } from "../../layout.ts";
import { BucketBlobs } from "../bucket-blobs.ts";
import { identifyCarried, type BucketIdentity } from "../bucket-identity.ts";
import { BucketRecords } from "../bucket-records.ts";
import { BucketWatch } from "../bucket-watch.ts";
import type { Bucket } from "../bucket.ts";
import {
  listArchives,
  listRecordsToPush,
  type Carried,
  type Outcome,
} from "./carried.ts";

interface CarrySides {
  readonly bucket: Bucket;
  readonly layout: StoreLayout;
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
  /** Id of the bucket's store. */
  readonly store: string;
  /** Items inspected, and those of them that were written. */
  readonly found: CarryCount;
  readonly written: CarryCount;
  /** Both sides have one, and the one that was there stays. */
  readonly differences: readonly CarryProblem[];
  /** Invalid items, which are not carried. */
  readonly problems: readonly CarryProblem[];
}

/** Things that are carried at once. */
const atOnce = 16;

/**
 * Copies everything in a directory into a bucket. Existing objects are never
 * overwritten or written again, so a stopped run can be repeated. After a
 * complete one, the directory is a replica's. Throws bucket-foreign,
 * bucket-unproven, bucket-refuses and bucket-unreachable.
 */
export async function carry(
  sides: CarrySides,
  { signal, onListed, onBegun }: CarryOptions,
): Promise<CarryReport> {
  const { bucket, layout } = sides;
  const { identity, adopt } = await identifyCarried(bucket, layout);
  const lists = await list(sides, identity);
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
    ({ kind }) => kind === "written" || kind === "same",
  );
  if (isReplicasNow) await adopt();
  return report;
}

/** One list after the other. */
async function list(
  { bucket, layout }: CarrySides,
  { store, etagForm }: BucketIdentity,
): Promise<readonly (readonly Carried[])[]> {
  const records = new BucketRecords(bucket, etagForm, () => undefined);
  const watch = new BucketWatch(bucket, store, {
    onProblem: () => undefined,
  });
  await watch.begin();
  return [
    await listArchives(new BlobStore(layout), new BucketBlobs(bucket)),
    await listRecordsToPush(layout, records, () => watch.bump()),
  ];
}

function makeReport(
  store: string,
  outcomes: ReadonlyMap<Carried, Outcome>,
): CarryReport {
  const all = [...outcomes];
  const problemsOf = (wanted: "differs" | "bad") =>
    all.flatMap(([{ kind, name }, outcome]) =>
      outcome.kind === wanted ? [{ kind, name, problem: outcome.problem }] : [],
    );
  const written = all.filter(([, { kind }]) => kind === "written");
  return {
    store,
    found: count(all.map(([one]) => one)),
    written: count(written.map(([one]) => one)),
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
