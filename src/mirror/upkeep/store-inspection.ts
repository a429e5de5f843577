import type { Sha256 } from "../../address/hash.ts";
import { forEach } from "../../concurrency/for-each.ts";
import type { BlobStore } from "../../store/blobs/blob-store.ts";
import type { ListedBlob } from "../../store/blobs/listing.ts";
import type { RecordStore } from "../../store/records/record-store.ts";
import { sumOf } from "./eviction-order.ts";
import { judgeRecord } from "./record-judgement.ts";
import type { ReleaseRecords } from "../releases/records.ts";

/** Archives that are hashed, of a directory or of a bucket. */
interface InspectedBlobs extends Pick<BlobStore, "inspect"> {
  list(): AsyncIterable<Omit<ListedBlob, "writtenAt">>;
  delete(sha256: Sha256): Promise<unknown>;
  /** Deletes a file that is no archive. */
  deleteFile?(path: string): Promise<unknown>;
}

export interface InspectionParts {
  readonly blobs: InspectedBlobs;
  readonly records: RecordStore;
  readonly releases: ReleaseRecords;
}

/** Something in the store that is not as it should be. */
interface Finding {
  readonly kind: "archive" | "record" | "file";
  /** A digest, a record's key or a path. */
  readonly name: string;
  readonly problem: string;
  /** It is gone: healed from its copy, or fetched again when it is asked for. */
  readonly dropped: boolean;
}

export interface Inspection {
  readonly archives: number;
  readonly bytes: number;
  readonly records: number;
  readonly findings: readonly Finding[];
  /** Good archives that no record names. */
  readonly orphans: readonly {
    readonly sha256: Sha256;
    readonly size: number;
  }[];
}

interface InspectionOptions {
  readonly repair: boolean;
  readonly signal: AbortSignal;
  /** Bytes of all archives, and then of each piece that was hashed. */
  readonly onSize: (bytes: number) => void;
  readonly onHashed: (bytes: number) => void;
}

/** Files that are read at once. */
const atOnce = 4;

/**
 * Reads everything that is stored: judges the proof of every release again and
 * hashes every archive. The daemon serves clients meanwhile.
 */
export async function inspectStore(
  parts: InspectionParts,
  options: InspectionOptions,
): Promise<Inspection> {
  // Archives first: a record that names one is written after it.
  const listed = await Array.fromAsync(parts.blobs.list());
  const bytes = sumOf(listed);
  options.onSize(bytes);
  const { signal } = options;
  const turns = { atOnce, signal };
  const findings: Finding[] = [];
  const named = new Set<Sha256>();
  const keys = await Array.fromAsync(parts.records.listAll());
  await forEach(keys, turns, async (key) => {
    const { problems, digests } = await judgeRecord(parts, key, options);
    for (const digest of digests) named.add(digest);
    for (const { text: problem, dropped } of problems)
      findings.push({ kind: "record", name: key.join("/"), problem, dropped });
  });
  const orphans: { sha256: Sha256; size: number }[] = [];
  let archives = 0;
  await forEach(listed, turns, async (one) => {
    const { sha256, size } = one;
    const finding = await inspectFile(parts.blobs, one, options);
    if (finding === "gone") return;
    if (finding !== undefined) findings.push(finding);
    else if (sha256 !== undefined && !named.has(sha256))
      orphans.push({ sha256, size });
    archives++;
  });
  return { archives, bytes, records: keys.length, findings, orphans };
}

async function inspectFile(
  blobs: InspectedBlobs,
  { sha256, path, size }: Omit<ListedBlob, "writtenAt">,
  { repair, onHashed }: InspectionOptions,
): Promise<Finding | "gone" | undefined> {
  if (sha256 === undefined) {
    onHashed(size);
    if (repair) await blobs.deleteFile?.(path);
    const problem = "it is no archive, by its name or its place";
    return { kind: "file", name: path, problem, dropped: repair };
  }
  const result = await blobs.inspect(sha256, onHashed);
  if (result === "missing") return "gone";
  if (result === "good") return undefined;
  if (repair) await blobs.delete(sha256);
  const problem = result.problem;
  return { kind: "archive", name: sha256, problem, dropped: repair };
}
