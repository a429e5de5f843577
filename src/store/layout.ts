import { join } from "node:path";
import type { Sha256 } from "../address/hash.ts";

/** Paths in a storage directory. A version in a path changes with its format. */
export interface StoreLayout {
  readonly directory: string;
  readonly blobs: string;
  /** Everything that the mirror knows; archives are files beside it. */
  readonly database: string;
  readonly staging: string;
  /** Where commands of this machine find the daemon. */
  readonly daemon: string;
  /** What operators decided, one line each, beside the database. */
  readonly decisions: string;
  /** The names of archives that are to be brought into the bucket. */
  readonly outbox: string;
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
    database: join(directory, "provender.db"),
    staging: join(directory, "staging"),
    daemon: join(directory, "daemon.json"),
    decisions: join(directory, "audit", "decisions.jsonl"),
    outbox: join(directory, "outbox", "v1"),
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

/** The key of an archive in a bucket. */
export function blobObject(sha256: Sha256): string {
  return `blobs/v1/sha256/${sha256.slice(0, 2)}/${sha256}`;
}

/** Makes a new name in the staging folder, with the process that uses it. */
export function stagingPath(layout: StoreLayout, kind: string): string {
  const name = `${kind}-${process.pid}-${crypto.randomUUID()}`;
  return join(layout.staging, name);
}
