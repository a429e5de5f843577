import type { Hostname } from "../../address/hostname.ts";
import type { RecordKey } from "../../store/layout.ts";
import type { RecordStore } from "../../store/records/record-store.ts";

interface NamespaceFolder {
  readonly hostname: Hostname;
  readonly namespace: string;
}

interface Signed {
  readonly type: string;
  readonly version: string;
}

/** The releases of a namespace, or of one provider of it, that were believed under a key; by their records alone, nothing is judged. */
export async function listSigned(
  records: RecordStore,
  namespace: NamespaceFolder,
  type: string | undefined,
  fingerprint: string,
): Promise<readonly Signed[]> {
  const found: Signed[] = [];
  for await (const one of listKeys(records, namespace, type)) {
    // A record that cannot be read names no signer; it refuses where it is asked for.
    const signer = await records
      .read(one.key, readSigner)
      .catch(() => undefined);
    if (signer === fingerprint)
      found.push({ type: one.type, version: one.version });
  }
  return found;
}

/** True when a release of the namespace was recorded after its ledger was begun. Throws RecordUnreadable. */
export async function expectsLedger(
  records: RecordStore,
  namespace: NamespaceFolder,
): Promise<boolean> {
  for await (const { key } of listKeys(records, namespace, undefined))
    if (await records.read(key, readMark)) return true;
  return false;
}

/** Every namespace with a folder of releases, by their names alone, in no order. */
export async function listRecorded(
  records: RecordStore,
): Promise<readonly NamespaceFolder[]> {
  const found: NamespaceFolder[] = [];
  for (const hostname of await records.folders(["providers"]))
    for (const namespace of await records.folders(["providers", hostname]))
      found.push({ hostname: hostname as Hostname, namespace });
  return found;
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

function readMark(body: unknown): boolean {
  return (body as { hasLedger?: unknown } | null)?.hasLedger === true;
}

function readSigner(body: unknown): unknown {
  return (body as { signedBy?: unknown } | null)?.signedBy;
}
