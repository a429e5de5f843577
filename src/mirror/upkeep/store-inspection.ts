import pLimit from "p-limit";
import type { Sha256 } from "../../address/hash.ts";
import { providerAddress } from "../../address/provider-address.ts";
import { parseVersion } from "../../address/version.ts";
import { ifAddress } from "../../errors/index.ts";
import type { BlobStore, ListedBlob } from "../../store/blobs/blob-store.ts";
import type {
  RecordKey,
  RecordStore,
} from "../../store/records/record-store.ts";
import { readModuleTrust } from "../modules/records.ts";
import type { ReleaseRecords } from "../releases/records.ts";
import type { ReleaseAddress } from "../releases/release.ts";

interface InspectionParts {
  readonly blobs: BlobStore;
  readonly records: RecordStore;
  readonly releases: ReleaseRecords;
}

interface Finding {
  readonly kind: "archive" | "record" | "file";
  /** A digest, a record's key or a path. */
  readonly name: string;
  readonly problem: string;
  /** It is gone, and is fetched or made again when it is asked for. */
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
  const bytes = listed.reduce((sum, { size }) => sum + size, 0);
  options.onSize(bytes);
  const { signal } = options;
  const turn = pLimit(atOnce);
  const findings: Finding[] = [];
  const named = new Set<Sha256>();
  const keys = await Array.fromAsync(parts.records.listAll());
  await turn.map(keys, async (key) => {
    signal.throwIfAborted();
    const found = { kind: "record", name: key.join("/") } as const;
    try {
      for (const digest of (await readNames(parts, key)).keys())
        named.add(digest);
      const judged = await judgeRecord(parts, key, options.repair);
      if (judged !== undefined) findings.push({ ...found, ...judged });
    } catch (error) {
      const problem = (error as Error).message;
      findings.push({ ...found, problem, dropped: false });
    }
  });
  const orphans: { sha256: Sha256; size: number }[] = [];
  let archives = 0;
  await turn.map(listed, async (one) => {
    signal.throwIfAborted();
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
  blobs: BlobStore,
  { sha256, path, size }: ListedBlob,
  { repair, onHashed }: InspectionOptions,
): Promise<Finding | "gone" | undefined> {
  if (sha256 === undefined) {
    onHashed(size);
    if (repair) await blobs.deleteFile(path);
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

/**
 * Reads a record as a request would, and verifies the evidence of a release again: which is kept where none holds now,
 * because it may hold again. `repair` deletes a damaged record that can be rebuilt; damaged pinned checksums and
 * decisions stay as they are.
 */
async function judgeRecord(
  { records, releases }: Omit<InspectionParts, "blobs">,
  key: RecordKey,
  repair: boolean,
): Promise<Pick<Finding, "problem" | "dropped"> | undefined> {
  if ((await records.read(key, asItIs)) === undefined) {
    if (repair) await records.remove(key);
    const problem = "it is damaged, and is computed again";
    return { problem, dropped: repair };
  }
  const address = readReleaseKey(key);
  const found = address && (await releases.read(address));
  const { pinned, evidence = [] } = found?.value.trust ?? {};
  const isServable = evidence.some(({ fault }) => fault === undefined);
  const fault = pinned && !isServable ? evidence.at(-1)?.fault : undefined;
  return fault && { problem: fault.message, dropped: false };
}

const asItIs = (body: unknown): unknown => body;

/** The archives that a record names, with their names; no evidence is judged. */
export async function readNames(
  { records, releases }: Omit<InspectionParts, "blobs">,
  key: RecordKey,
): Promise<ReadonlyMap<Sha256, string>> {
  if (key[0] === "module_pins") {
    const { contents = [] } = (await records.read(key, readModuleTrust)) ?? {};
    const archives = contents.flatMap(({ archive }) => archive ?? []);
    return new Map(archives.map(({ sha256 }) => [sha256, key.join("/")]));
  }
  const address = readReleaseKey(key);
  return address === undefined ? new Map() : releases.readDigests(address);
}

/** Undefined also for names that no release has. */
function readReleaseKey(key: RecordKey): ReleaseAddress | undefined {
  const [table, hostname = "", namespace = "", type = "", version = ""] = key;
  if (table !== "releases") return undefined;
  return ifAddress(() => ({
    provider: providerAddress(hostname, namespace, type),
    version: parseVersion(version),
  }));
}
