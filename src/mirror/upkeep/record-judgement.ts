import { parseSha256, type Sha256 } from "../../address/hash.ts";
import { providerAddress } from "../../address/provider-address.ts";
import { parseVersion } from "../../address/version.ts";
import { ifAddress } from "../../errors/index.ts";
import { isRebuildable, type RecordKey } from "../../store/layout.ts";
import type { RecordStore } from "../../store/records/record-store.ts";
import type { ReleaseRecords } from "../releases/records.ts";
import type { ReleaseAddress } from "../releases/release.ts";

interface RecordJudgement {
  /** The archives that the record names. */
  readonly digests: readonly Sha256[];
  readonly problems: readonly RecordProblem[];
}

interface RecordProblem {
  readonly text: string;
  /** It is gone by now: healed from the other copy, or dropped and asked for again. */
  readonly dropped: boolean;
}

interface JudgingParts {
  readonly records: RecordStore;
  readonly releases: ReleaseRecords;
}

const restore = "restore it from a backup";

/**
 * Reads a record as a request would, and verifies the evidence of a release
 * again. `repair` restores a damaged copy from a good one, and deletes a
 * damaged record that can be rebuilt. Damaged pinned checksums and decisions
 * stay as they are.
 */
export async function judgeRecord(
  parts: JudgingParts,
  key: RecordKey,
  { repair }: { readonly repair: boolean },
): Promise<RecordJudgement> {
  try {
    const { problems, readable } = await parts.records.inspect(key, { repair });
    if (!readable) return await judgeUnreadable(parts, key, problems, repair);
    const found = problems.map((text) => ({ text, dropped: repair }));
    const judged = await judgeBody(parts, key);
    return { ...judged, problems: [...found, ...judged.problems] };
  } catch (error) {
    const text = (error as Error).message;
    return { digests: [], problems: [{ text, dropped: false }] };
  }
}

async function judgeUnreadable(
  { records }: JudgingParts,
  key: RecordKey,
  problems: readonly string[],
  repair: boolean,
): Promise<RecordJudgement> {
  const dropped = repair && isRebuildable(key);
  if (dropped) await records.remove(key);
  const advice = isRebuildable(key) ? "" : `, and so is its copy: ${restore}`;
  const text = `${problems.join(", ")}${advice}`;
  return { digests: [], problems: [{ text, dropped }] };
}

async function judgeBody(
  { records, releases }: JudgingParts,
  key: RecordKey,
): Promise<RecordJudgement> {
  if (namesArchives(key)) {
    const digests = readDigests(await records.read(key, asItIs));
    return { digests, problems: [] };
  }
  const address = readReleaseKey(key);
  return address === undefined
    ? { digests: [], problems: [] }
    : judgeRelease(releases, address);
}

/** The archives that a record names, with their names; nothing is judged. */
export async function readNames(
  { records, releases }: JudgingParts,
  key: RecordKey,
): Promise<ReadonlyMap<Sha256, string>> {
  if (namesArchives(key)) {
    const digests = readDigests(await records.read(key, asItIs));
    return new Map(digests.map((digest) => [digest, key.join("/")]));
  }
  const address = readReleaseKey(key);
  return address === undefined ? new Map() : releases.readDigests(address);
}

/** Finds a pinned release of which no evidence holds now; evidence is kept, because it may hold again. */
async function judgeRelease(
  releases: ReleaseRecords,
  address: ReleaseAddress,
): Promise<RecordJudgement> {
  const digests = [...(await releases.readDigests(address)).keys()];
  const { pinned, evidence = [] } =
    (await releases.read(address))?.value.trust ?? {};
  const isServable = evidence.some(({ fault }) => fault === undefined);
  const fault = evidence.at(-1)?.fault;
  if (pinned === undefined || isServable || fault === undefined)
    return { digests, problems: [] };
  return { digests, problems: [{ text: fault.message, dropped: false }] };
}

/**
 * Parses `providers/HOSTNAME/NAMESPACE/TYPE/releases/VERSION`; undefined also
 * for names that no release has.
 */
function readReleaseKey(key: RecordKey): ReleaseAddress | undefined {
  const [room, hostname = "", namespace = "", type = "", part, version = ""] =
    key;
  if (room !== "providers" || part !== "releases") return undefined;
  return ifAddress(() => ({
    provider: providerAddress(hostname, namespace, type),
    version: parseVersion(version),
  }));
}

/**
 * True for a module's release, and for a digest computed for a network mirror
 * that publishes none.
 */
function namesArchives([room, , , , part]: RecordKey): boolean {
  return room === "modules" || part === "learnt-digests";
}

const asItIs = (body: unknown): unknown => body;

interface NamingBody {
  readonly sha256?: unknown;
  /** Contents of a module's release. */
  readonly evidence?: readonly { readonly archive?: NamingBody }[];
}

function readDigests(body: unknown): readonly Sha256[] {
  const { sha256, evidence = [] } = (body ?? {}) as NamingBody;
  const own = typeof sha256 === "string" ? [parseSha256(sha256)] : [];
  return [...own, ...evidence.flatMap(({ archive }) => readDigests(archive))];
}
