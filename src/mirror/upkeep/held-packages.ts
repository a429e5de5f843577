import type { Sha256 } from "../../address/hash.ts";
import { formatPlatform, type Platform } from "../../address/platform.ts";
import type { ProviderAddress } from "../../address/provider-address.ts";
import { newestFirst, type Version } from "../../address/version.ts";
import { type Failure, isFailure } from "../../errors/index.ts";
import type { BlobStore } from "../../store/blobs/blob-store.ts";
import type { ReleaseRecords } from "../releases/records.ts";
import { readPlatform, type ReleaseAddress } from "../releases/release.ts";
import { findStored, type StoredArchive } from "./stored-archives.ts";

export interface HoldingParts {
  readonly blobs: BlobStore;
  readonly releases: ReleaseRecords;
}

/** Recorded package, as first verified; its archive may be stored. */
export interface HeldPackage extends ReleaseAddress {
  readonly platform: Platform;
  readonly filename: string;
  readonly sha256: Sha256;
  readonly firstSeen: Date | undefined;
  /** The fingerprint of the primary key that signed, as it was recorded. */
  readonly signedBy: string | undefined;
  readonly stored: StoredArchive | undefined;
}

/** Selects packages; without `provider` all. */
export interface HeldQuestion {
  readonly provider: ProviderAddress | undefined;
  readonly choose: (versions: readonly Version[]) => readonly Version[];
}

/**
 * Lists by provider, the newest version first, by platform. For an unreadable
 * release record it returns the error.
 */
export async function* listHeld(
  { blobs, releases }: HoldingParts,
  { provider, choose }: HeldQuestion,
): AsyncGenerator<HeldPackage | Failure<"record-unreadable">> {
  const stored = await findStored(blobs);
  const providers =
    provider === undefined
      ? await releases.listProviders(Infinity)
      : [provider];
  for (const one of providers)
    for (const version of choose(newestFirst(await releases.list(one))))
      yield* describeRelease(releases, { provider: one, version }, stored);
}

async function* describeRelease(
  releases: ReleaseRecords,
  address: ReleaseAddress,
  stored: ReadonlyMap<Sha256, StoredArchive>,
): AsyncGenerator<HeldPackage | Failure<"record-unreadable">> {
  try {
    const found = await releases.describe(address);
    if (found === undefined) return;
    const { digests, ...facts } = found;
    const packages = [...digests].flatMap(([filename, sha256]) =>
      readPlatform(address.provider, address.version, filename).map(
        (platform) => ({
          ...address,
          ...facts,
          platform,
          filename,
          sha256,
          stored: stored.get(sha256),
        }),
      ),
    );
    yield* packages.toSorted((a, b) =>
      formatPlatform(a.platform) < formatPlatform(b.platform) ? -1 : 1,
    );
  } catch (error) {
    if (!isFailure(error, "record-unreadable")) throw error;
    yield error;
  }
}
