import { join } from "node:path";
import type { Sha256 } from "../address/hash.ts";

export type StoreLayout = ReturnType<typeof layOutStore>;

/** Paths in a storage directory. A version in a path changes with its format. */
export function layOutStore(directory: string) {
  const tls = join(directory, "tls", "v1");
  return {
    directory,
    blobs: join(directory, "blobs", "v1", "sha256"),
    /** Everything that the mirror knows; archives are files beside it. */
    database: join(directory, "provender.db"),
    staging: join(directory, "staging"),
    /** Where commands of this machine find the daemon. */
    daemon: join(directory, "daemon.json"),
    /** What operators decided, one line each, beside the database. */
    decisions: join(directory, "audit", "decisions.jsonl"),
    /** The names of archives that are to be brought into the bucket. */
    outbox: join(directory, "outbox", "v1"),
    tls: {
      directory: tls,
      authority: join(tls, "ca.pem"),
      authorityKey: join(tls, "ca-key.pem"),
      certificate: join(tls, "certificate.pem"),
      key: join(tls, "key.pem"),
    },
  } as const;
}

export function blobPath(layout: StoreLayout, sha256: Sha256): string {
  return join(layout.blobs, sha256.slice(0, 2), sha256);
}

/** The key of an archive in a bucket. */
export function blobObject(sha256: Sha256): string {
  return `blobs/v1/sha256/${sha256.slice(0, 2)}/${sha256}`;
}

/** Makes a new name in the staging folder, with the process that uses it. */
export function stagingPath(layout: StoreLayout, kind: string): string {
  const name = `${kind}-${process.pid}-${crypto.randomUUID()}`;
  return join(layout.staging, name);
}
