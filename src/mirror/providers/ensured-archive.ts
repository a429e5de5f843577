import type { PackageHash, Sha256 } from "../../address/hash.ts";
import { formatPlatform, type Platform } from "../../address/platform.ts";
import type { Outcome } from "../cache/answer.ts";
import type { PackageHashes } from "../releases/package-hashes.ts";
import type { ProviderMirror } from "./provider-mirror.ts";
import type { ReleaseAddress, ReleasePackage } from "../releases/release.ts";

/** An archive that is stored or on its way into the store. */
interface EnsuredArchive {
  readonly filename: string;
  readonly sha256: Sha256;
  readonly outcome: Outcome;
  /** Bytes; undefined while the origin has not said it. */
  readonly size: number | undefined;
  /** Bytes that are here so far. */
  readonly received: number;
  /** Resolves with the h1, if it has one, when the archive is stored and hashed; rejects when it cannot be had. */
  readonly done: Promise<PackageHash | undefined>;
}

/** The parts of the mirror that bring an archive into the store without a reader. */
export interface ArchiveEnsurer {
  readonly providers: ProviderMirror;
  readonly hashes: PackageHashes;
}

/** The digest that was signed for a package of a release; nothing is asked of the origin for what is known. Throws NotFound. */
export async function recallPackage(
  providers: ProviderMirror,
  address: ReleaseAddress,
  platform: Platform,
): Promise<ReleasePackage> {
  const name = formatPlatform(platform);
  const known = await providers.recallRelease(address);
  // Platforms may have been added to a release since.
  return (
    known.packages.get(name) ??
    (await providers.findPackage(address, platform)).value
  );
}

/** Of an archive that is stored and was hashed before; it is not read again. */
interface KeptArchive {
  readonly h1: PackageHash;
  /** Bytes. */
  readonly size: number;
}

/** What is known without reading an archive; undefined when it is not stored or has no h1. */
export async function recallArchive(
  { providers, hashes }: ArchiveEnsurer,
  found: ReleasePackage,
): Promise<KeptArchive | undefined> {
  const size = await providers.findSize(found);
  const h1 = size === undefined ? undefined : await hashes.find(found.sha256);
  return size === undefined || h1 === undefined ? undefined : { h1, size };
}

/** Opens or fetches an archive, and keeps its h1 too. Throws what openArchive throws. */
export async function ensureArchive(
  { providers, hashes }: ArchiveEnsurer,
  address: ReleaseAddress,
  found: ReleasePackage,
): Promise<EnsuredArchive> {
  const archive = await providers.openArchive(address, found);
  const { filename, sha256 } = found;
  const done = (async () => {
    try {
      await archive.stored;
    } finally {
      await archive.close();
    }
    return hashes.wait(sha256);
  })();
  // Its rejection belongs to whoever waits for it, perhaps later.
  done.catch(() => undefined);
  return {
    filename,
    sha256,
    outcome: archive.outcome,
    get size() {
      return archive.size;
    },
    get received() {
      return archive.received;
    },
    done,
  };
}
