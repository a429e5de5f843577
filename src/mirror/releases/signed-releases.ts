import type { Hostname } from "../../address/hostname.ts";
import type { RecordKey } from "../../store/layout.ts";
import type { RecordStore } from "../../store/records/record-store.ts";
import type { Candidate } from "../../trust/candidates.ts";
import { isCandidate } from "../../trust/standing.ts";
import { digestOf } from "./known-release.ts";
import { recordKey, readReleaseBody } from "./records.ts";
import type { ReleaseAddress } from "./release.ts";

interface NamespaceFolder {
  readonly hostname: Hostname;
  readonly namespace: string;
}

interface Signed {
  readonly type: string;
  readonly version: string;
}

/** Lists the releases of a namespace, or of one provider of it, that are meant and were admitted under a key; by their records alone, nothing is judged. */
export async function listSigned(
  records: RecordStore,
  namespace: NamespaceFolder,
  type: string | undefined,
  fingerprint: string,
  isMeant: (release: Signed) => boolean = () => true,
): Promise<readonly Signed[]> {
  const found: Signed[] = [];
  for await (const one of listKeys(records, namespace, type)) {
    if (!isMeant(one)) continue;
    // A record that cannot be read names no signer; it refuses where it is asked for.
    const signer = await records
      .read(one.key, readSigner)
      .catch(() => undefined);
    if (signer === fingerprint)
      found.push({ type: one.type, version: one.version });
  }
  return found;
}

/** True when the record of a release that is meant has content under a key, admitted or not. */
export async function isUsed(
  records: RecordStore,
  namespace: NamespaceFolder,
  type: string | undefined,
  fingerprint: string,
  isMeant: (release: Signed) => boolean,
): Promise<boolean> {
  for await (const one of listKeys(records, namespace, type)) {
    if (!isMeant(one)) continue;
    // A record that cannot be read names no key; it refuses where it is asked for.
    const body = await records
      .read(one.key, readReleaseBody)
      .catch(() => undefined);
    const known = [body?.pinned, ...(body?.evidence ?? [])];
    if (known.some((one) => one?.signedBy === fingerprint)) return true;
  }
  return false;
}

/** Lists the contents that the record of a release has, also candidates that the bounds of `trust list` left out. */
export async function listRecorded(
  records: RecordStore,
  address: ReleaseAddress,
): Promise<readonly RecordedContent[]> {
  const body = await records.read(recordKey(address), readReleaseBody);
  return (body?.evidence ?? []).map(
    ({ document, signedBy: fingerprint, noted }) => {
      const sha256sums = digestOf(Buffer.from(document, "utf8"));
      const reason = isCandidate(noted) ? noted : undefined;
      return { sha256sums, fingerprint, reason };
    },
  );
}

interface RecordedContent extends Pick<
  Candidate,
  "sha256sums" | "fingerprint"
> {
  /** Undefined unless it is a candidate. */
  readonly reason: Candidate["reason"] | undefined;
}

async function* listKeys(
  records: RecordStore,
  { hostname, namespace }: NamespaceFolder,
  type: string | undefined,
): AsyncGenerator<Signed & { readonly key: RecordKey }> {
  const folder = ["providers", hostname, namespace];
  const types = type === undefined ? await records.folders(folder) : [type];
  for (const name of types.toSorted())
    for (const version of await records.list([...folder, name, "releases"])) {
      const key = [...folder, name, "releases", version];
      yield { type: name, version, key };
    }
}

function readSigner(body: unknown): unknown {
  const { pinned } = (body ?? {}) as { pinned?: { signedBy?: unknown } | null };
  return pinned?.signedBy;
}
