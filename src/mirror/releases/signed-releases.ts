import type { RecordKey } from "../../store/layout.ts";
import type { RecordStore } from "../../store/records/record-store.ts";

interface Signed {
  readonly type: string;
  readonly version: string;
}

/** The releases of a namespace, or of one provider of it, that were believed under a key; by their records alone, nothing is judged. */
export async function listSigned(
  records: RecordStore,
  namespace: { readonly hostname: string; readonly namespace: string },
  type: string | undefined,
  fingerprint: string,
): Promise<readonly Signed[]> {
  const folder = ["providers", namespace.hostname, namespace.namespace];
  const types = type === undefined ? await records.folders(folder) : [type];
  const found: Signed[] = [];
  for (const name of types.toSorted())
    for (const version of await records.list([...folder, name, "releases"])) {
      const key: RecordKey = [...folder, name, "releases", version];
      // A record that cannot be read names no signer; it refuses where it is asked for.
      const signer = await records.read(key, readSigner).catch(() => undefined);
      if (signer === fingerprint) found.push({ type: name, version });
    }
  return found;
}

function readSigner(body: unknown): unknown {
  return (body as { signedBy?: unknown } | null)?.signedBy;
}
