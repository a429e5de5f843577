import { join } from "node:path";
import type { Sha256 } from "../address/hash.ts";

/** The parts of a record's name; each part becomes one folder or file name. */
export type RecordKey = readonly string[];

/** Where everything lies in a storage directory. A version in a path changes with its format. */
export interface StoreLayout {
  readonly directory: string;
  readonly blobs: string;
  readonly records: string;
  readonly staging: string;
  readonly lock: string;
  /** The journal of when each archive was last used. */
  readonly lastUse: string;
  /** The current audit logs, of requests and of decisions; older ones lie beside them. */
  readonly audit: { readonly requests: string; readonly decisions: string };
  /** What archive URLs are signed with. */
  readonly archiveUrlKeys: string;
  readonly tls: {
    readonly directory: string;
    readonly authority: string;
    readonly authorityKey: string;
    readonly certificate: string;
    readonly key: string;
  };
}

export function layOutStore(directory: string): StoreLayout {
  const tls = join(directory, "tls", "v1");
  return {
    directory,
    blobs: join(directory, "blobs", "v1", "sha256"),
    records: join(directory, "records", "v1"),
    staging: join(directory, "staging"),
    lock: join(directory, "daemon.lock"),
    lastUse: join(directory, "last-use.v1.log"),
    audit: {
      requests: join(directory, "audit", "audit.jsonl"),
      decisions: join(directory, "audit", "decisions.jsonl"),
    },
    archiveUrlKeys: join(directory, "auth", "v1", "archive-url-keys.json"),
    tls: {
      directory: tls,
      authority: join(tls, "ca.pem"),
      authorityKey: join(tls, "ca-key.pem"),
      certificate: join(tls, "certificate.pem"),
      key: join(tls, "key.pem"),
    },
  };
}

export function blobPath(layout: StoreLayout, sha256: Sha256): string {
  return join(layout.blobs, sha256.slice(0, 2), sha256);
}

export function recordPath(layout: StoreLayout, key: RecordKey): string {
  return `${recordFolder(layout, key)}.json`;
}

/** The folder of the records whose keys start with `prefix`. */
export function recordFolder(layout: StoreLayout, prefix: RecordKey): string {
  for (const part of prefix)
    if (!/^[A-Za-z0-9][A-Za-z0-9._:+-]*$/.test(part))
      throw new RangeError(`not a part of a record key: ${part}`);
  return join(layout.records, ...prefix);
}

/** A name in the staging folder that no other process and no earlier start uses. */
export function stagingPath(layout: StoreLayout, kind: string): string {
  return join(layout.staging, `${kind}-${crypto.randomUUID()}`);
}
