import { createHash } from "node:crypto";
import { parseSha256, type Sha256 } from "../../src/address/hash.ts";
import { PackageHashes } from "../../src/mirror/releases/package-hashes.ts";
import { blobPath } from "../../src/store/layout.ts";
import { ArchiveThreads } from "../../src/verification/archives/threads.ts";
import { hashOf } from "../fakes/archive.ts";
import { makeLayout, openBlobs, openRecords } from "../store/stores.ts";
import { zipBytes } from "../verification/archives/zip-bytes.ts";

/** Threads that tell how often they were asked, and what a test does around their work. */
export class WatchedThreads extends ArchiveThreads {
  asked = 0;
  before: () => Promise<void> | void = () => undefined;
  after: () => Promise<void> | void = () => undefined;

  constructor(deadlineMs = 120_000) {
    const limits = { entries: 4096, expandedBytes: 2 ** 33, ratio: 200 };
    super({ threads: 1, limits, deadlineMs });
  }

  override async hash(archive: Parameters<ArchiveThreads["hash"]>[0]) {
    this.asked++;
    await this.before();
    try {
      return await super.hash(archive);
    } finally {
      await this.after();
    }
  }

  /** Resets the scene for the next test. */
  reset(): void {
    this.asked = 0;
    this.before = this.after = () => undefined;
  }
}

/** An archive with this content; `deflate` makes other bytes with the same h1. */
export function zipOf(content: string, deflate = false) {
  const bytes = zipBytes([{ name: "provider", content, deflate }]);
  const h1 = hashOf([["provider", Buffer.from(content)]]);
  return { bytes, sha256: digest(bytes), h1 };
}

/** One that no h1 can be computed of. */
export function unhashableZip() {
  const bytes = zipBytes([{ name: "folder/", content: "" }]);
  return { bytes, sha256: digest(bytes) };
}

function digest(bytes: Uint8Array): Sha256 {
  return parseSha256(createHash("sha256").update(bytes).digest("hex"));
}

/** The hashes of a store of its own; answers wait for one for so many milliseconds of `patience`, by default longer than any test lasts. */
export async function prepareHashes(
  threads: ArchiveThreads,
  patience = 600_000,
) {
  const layout = await makeLayout();
  const blobs = openBlobs(layout);
  const records = openRecords(layout);
  const failures: { readonly sha256: Sha256; readonly error: unknown }[] = [];
  /** Opens the hashes as another process would, or this one after a start. */
  const open = () =>
    new PackageHashes(
      ...([blobs, records, threads] as const),
      (sha256, error) => failures.push({ sha256, error }),
      patience,
    );
  return {
    ...{ layout, blobs, records, failures, open },
    hashes: open(),
    recordOf: (sha256: Sha256) =>
      records.read(recordKey(sha256), (body) => body),
    writeRecord: (sha256: Sha256, body: unknown) =>
      records.change(recordKey(sha256), Object, () => body),
    pathOf: (sha256: Sha256) => blobPath(layout, sha256),
    store: async ({ bytes, sha256 }: Stored) => {
      const spool = await blobs.createSpool();
      await spool.append(bytes);
      await blobs.commit(spool, sha256);
      await spool.release();
    },
  };
}

interface Stored {
  readonly bytes: Uint8Array;
  readonly sha256: Sha256;
}

function recordKey(sha256: Sha256) {
  return ["package-hashes", sha256.slice(0, 2), sha256];
}
