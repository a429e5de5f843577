import { bodyOf, type BucketBody } from "./bucket-connection.ts";
import type { Bucket, Condition } from "./bucket.ts";

/** How the service wants an ETag in `If-Match`: as it gave it, or without its quotes. */
export type EtagForm = "quoted" | "unquoted";

/** What a bucket was seen to keep to; `broken` names what it does not, in words for an operator. */
interface BucketProof {
  readonly etagForm: EtagForm;
  readonly broken: readonly string[];
}

/** What proofs write is below this, and goes. */
export const proofFolder = "proof/";

const rounds = 4;
const writers = 8;
/** Bytes; services keep small bodies otherwise than large ones. */
const sizes = [32, 512 * 1024] as const;

/**
 * Races writers against each other, because services that check conditions in
 * sequence may still let several win at once. Writes below `proof/` and removes it.
 * Throws BucketUnreachable and BucketRefuses.
 */
export async function proveBucket(bucket: Bucket): Promise<BucketProof> {
  const folder = `${proofFolder}${crypto.randomUUID()}`;
  try {
    const etagForm = await findEtagForm(bucket, `${folder}/form`);
    const broken = [
      ...(await proveCreateOnly(bucket, folder)),
      ...(etagForm === undefined
        ? ["If-Match with the current ETag is refused"]
        : await proveCompareAndSwap(bucket, folder, etagForm)),
      ...(await proveListing(bucket, folder)),
    ];
    return { etagForm: etagForm ?? "quoted", broken };
  } finally {
    for await (const { key } of bucket.list(`${folder}/`))
      await bucket.delete(key);
  }
}

/** The condition that an object is still the one with `etag`. */
export function unchanged(etag: string, form: EtagForm): Condition {
  return {
    kind: "unchanged",
    etag: form === "quoted" ? etag : etag.replace(/^"(.*)"$/, "$1"),
  };
}

async function findEtagForm(
  bucket: Bucket,
  key: string,
): Promise<EtagForm | undefined> {
  for (const form of ["quoted", "unquoted"] as const) {
    const etag = await bucket.put(key, bodyOf(`first ${form}`));
    const next = bodyOf(`second ${form}`);
    const outcome = await bucket.putIf(key, next, unchanged(etag, form));
    if (outcome.kind === "written") return form;
  }
  return undefined;
}

async function proveCreateOnly(
  bucket: Bucket,
  folder: string,
): Promise<readonly string[]> {
  const broken = new Set<string>();
  for (const size of sizes)
    for (let round = 0; round < rounds; round++) {
      const key = `${folder}/create-${size}-${round}`;
      const winners = await race(bucket, key, size, { kind: "absent" });
      if (winners > 1)
        broken.add(
          `${winners} of ${writers} writers at once created one object of ${size} bytes with If-None-Match`,
        );
      if (winners < 1) broken.add("If-None-Match lets nobody create an object");
      const late = await bucket.putIf(key, fill(size), { kind: "absent" });
      if (late.kind === "written")
        broken.add("If-None-Match is ignored: an object was created twice");
    }
  return [...broken];
}

async function proveCompareAndSwap(
  bucket: Bucket,
  folder: string,
  form: EtagForm,
): Promise<readonly string[]> {
  const broken = new Set<string>();
  for (const size of sizes)
    for (let round = 0; round < rounds; round++) {
      const key = `${folder}/change-${size}-${round}`;
      const condition = unchanged(await bucket.put(key, fill(size)), form);
      const winners = await race(bucket, key, size, condition);
      if (winners > 1)
        broken.add(
          `${winners} of ${writers} writers at once changed one object of ${size} bytes with If-Match`,
        );
      if (winners < 1) broken.add("If-Match lets nobody change an object");
      const stale = await bucket.putIf(key, fill(size), condition);
      if (stale.kind === "written")
        broken.add("If-Match is ignored: a stale ETag was taken");
    }
  return [...broken];
}

async function proveListing(
  bucket: Bucket,
  folder: string,
): Promise<readonly string[]> {
  const key = `${folder}/listed`;
  await bucket.put(key, fill(1));
  for await (const object of bucket.list(key))
    if (object.key === key) return [];
  return ["an object that was just written is not in the list"];
}

/** How many of the writers won; of those without an answer, the one whose bytes are there. */
async function race(
  bucket: Bucket,
  key: string,
  size: number,
  condition: Condition,
): Promise<number> {
  const bodies = Array.from({ length: writers }, () => fill(size));
  const outcomes = await Promise.all(
    bodies.map((body) => bucket.putIf(key, body, condition)),
  );
  const kept = await readSha256(bucket, key);
  return outcomes.filter(
    ({ kind }, index) =>
      kind === "written" ||
      (kind === "unknown" && bodies[index]?.sha256 === kept),
  ).length;
}

async function readSha256(
  bucket: Bucket,
  key: string,
): Promise<string | undefined> {
  const found = await bucket.get(key);
  if (found === undefined) return undefined;
  return bodyOf(await bucket.readText(found)).sha256;
}

function fill(size: number): BucketBody {
  const text = crypto.randomUUID().repeat(Math.ceil(size / 36));
  return bodyOf(text.slice(0, size));
}
