import { parseSha256, type Sha256 } from "../../address/hash.ts";
import { providerAddress } from "../../address/provider-address.ts";
import { parseVersion } from "../../address/version.ts";
import { ProvenderError } from "../../errors/index.ts";
import type { RecordKey } from "../../store/layout.ts";
import type { RecordStore } from "../../store/records/record-store.ts";
import type { ReleaseRecords } from "../releases/records.ts";
import type { ReleaseAddress } from "../releases/release.ts";

export interface RecordJudgement {
  /** The archives that the record names. */
  readonly digests: readonly Sha256[];
  /** What is wrong with it; not decided when nobody could tell. */
  readonly problem?: { readonly text: string; readonly decided: boolean };
}

const damaged: RecordJudgement = {
  digests: [],
  problem: { text: "it is cut, changed or moved", decided: true },
};

/** Reads a record as if it were asked for; the proof of a release is judged again. */
export async function judgeRecord(
  parts: {
    readonly records: RecordStore;
    readonly releases: ReleaseRecords;
  },
  key: RecordKey,
): Promise<RecordJudgement> {
  try {
    const body = await parts.records.read(key);
    // It may have left meanwhile.
    if (body === undefined)
      return (await parts.records.stamp(key)) === undefined
        ? { digests: [] }
        : damaged;
    if (key[0] === "modules") return { digests: readModule(body) };
    const address = readReleaseKey(key);
    if (address === undefined) return { digests: [] };
    return await judgeRelease(parts.releases, address);
  } catch (error) {
    const text = (error as Error).message;
    // A key with a part that no record can have is nobody's.
    const decided = error instanceof RangeError;
    return { digests: [], problem: { text, decided } };
  }
}

/** The archives that a record names, with their names; nothing is judged. */
export async function readNames(
  {
    records,
    releases,
  }: { readonly records: RecordStore; readonly releases: ReleaseRecords },
  key: RecordKey,
): Promise<ReadonlyMap<Sha256, string>> {
  if (key[0] === "modules") {
    const digests = readModule(await records.read(key));
    return new Map(digests.map((digest) => [digest, key.join("/")]));
  }
  const address = readReleaseKey(key);
  const digests = address && (await releases.readFirstDigests(address));
  return new Map([...(digests ?? [])].map(([name, digest]) => [digest, name]));
}

async function judgeRelease(
  releases: ReleaseRecords,
  address: ReleaseAddress,
): Promise<RecordJudgement> {
  try {
    if ((await releases.read(address)) === undefined)
      return {
        digests: [],
        problem: { text: "it is not in the form of a release", decided: true },
      };
    const digests = await releases.readFirstDigests(address);
    return { digests: [...digests.values()] };
  } catch (error) {
    if (!(error instanceof ProvenderError)) throw error;
    const decided = error.code !== "signature-undecided";
    return { digests: [], problem: { text: error.message, decided } };
  }
}

/** `providers/HOSTNAME/NAMESPACE/TYPE/releases/VERSION`. */
function readReleaseKey(key: RecordKey): ReleaseAddress | undefined {
  const [room, hostname = "", namespace = "", type = "", part, version = ""] =
    key;
  if (room !== "providers" || part !== "releases") return undefined;
  const provider = providerAddress(hostname, namespace, type);
  return { provider, version: parseVersion(version) };
}

function readModule(body: unknown): readonly Sha256[] {
  const { sha256 } = (body ?? {}) as { sha256?: unknown };
  return typeof sha256 === "string" ? [parseSha256(sha256)] : [];
}
