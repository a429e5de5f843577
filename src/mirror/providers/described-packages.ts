import {
  listUnnamed,
  type Release,
  type ReleaseAddress,
} from "../releases/release.ts";
import {
  describePackage,
  type DescriptionParts,
  type MirroredPackage,
} from "./package-description.ts";
import type { ProviderCatalog } from "./provider-catalog.ts";

type DescribedPackagesParts = Pick<DescriptionParts, "hashes" | "alarms"> & {
  readonly catalog: Pick<ProviderCatalog, "originOf">;
};

interface Described {
  readonly packages: Promise<readonly MirroredPackage[]>;
  readonly revision: number;
  /** On the monotonic clock. */
  readonly at: number;
}

/** Milliseconds after which other processes may have stored and hashed something. */
const keptFor = 1_000;

/** What clients are told of a release's packages: looked up on the disk once a second at most, however many ask. */
export class DescribedPackages {
  readonly #parts: DescribedPackagesParts;
  readonly #kept = new WeakMap<Release, Described>();

  constructor(parts: DescribedPackagesParts) {
    this.#parts = parts;
  }

  of(
    address: ReleaseAddress,
    release: Release,
  ): Promise<readonly MirroredPackage[]> {
    const at = performance.now();
    const { revision } = this.#parts.hashes;
    const kept = this.#kept.get(release);
    if (kept?.revision === revision && at - kept.at < keptFor)
      return kept.packages;
    const packages = this.#describeAll(address, release);
    this.#kept.set(release, { packages, revision, at });
    packages.catch(() => this.#kept.delete(release));
    return packages;
  }

  async #describeAll(
    address: ReleaseAddress,
    release: Release,
  ): Promise<readonly MirroredPackage[]> {
    const { hashes, alarms, catalog } = this.#parts;
    const { reportedHashes } = catalog.originOf(address.provider);
    const parts = { hashes, alarms, reportedHashes };
    const described = await Promise.all(
      [...release.packages].map(([name, found]) =>
        describePackage(parts, release, name, found),
      ),
    );
    const unnamed = listUnnamed(address, release).map(
      ({ packageHashes, ...one }) => ({ ...one, hashes: packageHashes }),
    );
    return [...described, ...unnamed].toSorted((a, b) =>
      a.filename < b.filename ? -1 : 1,
    );
  }
}
