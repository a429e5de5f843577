import { z } from "zod";
import { failure, isFailure } from "../../errors/index.ts";
import { findAnyRecord } from "../database/database.ts";
import { writeDurably } from "../durable-file.ts";
import { readJson, readJsonFile } from "../json-text.ts";
import { stagingPath, type StoreLayout } from "../layout.ts";
import { proofFolder, proveBucket } from "./bucket-proof.ts";
import type { Bucket } from "./bucket.ts";

const marker = "store.json";

/** Marker of the one store in the bucket, under any name of the bucket. */
const markerShape = z.object({ store: z.uuid() });

const shape = markerShape.extend({
  etagForm: z.enum(["quoted", "unquoted"]),
});

type Marker = Readonly<z.infer<typeof markerShape>>;

/** Store that a bucket has, and the form of ETags in its conditions. */
export type BucketIdentity = Readonly<z.infer<typeof shape>>;

/**
 * The store in the bucket, which is begun in an empty one, and which the directory of this replica remembers: while
 * the bucket does not answer, what is remembered counts.
 */
export async function identifyBucket(
  bucket: Bucket,
  layout: StoreLayout,
): Promise<BucketIdentity> {
  const known = await readKnown(layout);
  try {
    const found = await checkBucket(bucket, layout);
    const now = await prove(bucket, found).catch((error: unknown) => {
      // It was proven earlier, and takes no writes now.
      if (isFailure(error, "bucket-refuses") && known !== undefined)
        return known;
      throw error;
    });
    await writeKnown(layout, now);
    return now;
  } catch (error) {
    if (isFailure(error, "bucket-unreachable") && known !== undefined)
      return known;
    throw error;
  }
}

/** The store in the bucket; undefined where one can be begun. */
export async function checkBucket(
  bucket: Bucket,
  layout: StoreLayout,
): Promise<Marker | undefined> {
  const known = await readKnown(layout);
  const found = await findStore(bucket, known);
  // First contacts of its own would be repeated in the bucket.
  const own = known ? undefined : findAnyRecord(layout);
  if (own !== undefined)
    throw failure(
      "bucket-foreign",
      bucket.name,
      `${layout.directory} has records of its own, such as ${own}`,
      `set an empty "storage.directory"`,
    );
  return found;
}

async function findStore(
  bucket: Bucket,
  known: BucketIdentity | undefined,
): Promise<Marker | undefined> {
  const found = await readMarker(bucket);
  if (known !== undefined && found?.store !== known.store)
    throw failure(
      "bucket-foreign",
      bucket.name,
      `expected the store ${known.store}, found ${found?.store ?? "none"}`,
      `restore the bucket or correct "storage.s3"; to give up what this replica saw there, empty "storage.directory"`,
    );
  return found ?? (await expectEmpty(bucket));
}

/** Proves the bucket, and creates the store where there is none. */
async function prove(
  bucket: Bucket,
  found: Marker | undefined,
): Promise<BucketIdentity> {
  const etagForm = await proveBucket(bucket);
  const { store } = found ?? (await begin(bucket));
  return { store, etagForm };
}

/** The store that this replica begins, or another one at the same time. */
async function begin(bucket: Bucket): Promise<Marker> {
  const body = JSON.stringify({ store: crypto.randomUUID() });
  const begun = await bucket.putIf(marker, body, { kind: "absent" });
  const kept = await readMarker(bucket);
  if (kept !== undefined) return kept;
  if (begun.kind === "unknown") throw begun.failure;
  throw failure(
    "bucket-foreign",
    bucket.name,
    "what was just written is not there",
    "look at the object store",
  );
}

async function readMarker(bucket: Bucket): Promise<Marker | undefined> {
  const object = await bucket.get(marker);
  if (object === undefined) return undefined;
  const found = readJson(markerShape, await bucket.readText(object));
  if (found !== undefined) return found;
  throw failure(
    "bucket-foreign",
    bucket.name,
    `its ${marker} is not one of provender`,
    `set another "storage.s3.bucket" or "storage.s3.prefix"`,
  );
}

/** Undefined when it is; another replica may begin the store meanwhile. */
async function expectEmpty(bucket: Bucket): Promise<Marker | undefined> {
  for await (const { key } of bucket.list("")) {
    if (key.startsWith(proofFolder)) continue;
    const begun = await readMarker(bucket);
    if (begun !== undefined) return begun;
    throw failure(
      "bucket-foreign",
      bucket.name,
      `it has objects such as ${key}, and no ${marker}`,
      `restore ${marker}, or set a "storage.s3.prefix" below which there is nothing`,
    );
  }
  return undefined;
}

function readKnown(layout: StoreLayout): Promise<BucketIdentity | undefined> {
  const remedy = `restore it from a backup, or remove it and run "provender store push"`;
  return readJsonFile(shape, layout, layout.bucketIdentity, remedy);
}

async function writeKnown(
  layout: StoreLayout,
  identity: BucketIdentity,
): Promise<void> {
  const staged = stagingPath(layout, "bucket");
  const text = `${JSON.stringify(identity)}\n`;
  await writeDurably(staged, layout.bucketIdentity, text);
}
