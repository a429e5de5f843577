import { listUnnamed, type Release } from "../releases/release.ts";
import type { AdmittedRelease } from "./admitted.ts";
import {
  describePackage,
  type DescriptionParts,
  type MirroredPackage,
} from "./package-description.ts";

/** Release that clients may have, as far as descriptions need it. */
export type Describable = Pick<AdmittedRelease, "request" | "release">;
type DescribedPackagesParts = Pick<DescriptionParts, "hashes" | "alarms">;

interface Described {
  readonly packages: Promise<readonly MirroredPackage[]>;
  readonly revision: number;
}

/**
 * Descriptions of a release's packages for clients. The disk is read again
 * after a hash was computed or forgotten, for any number of requests.
 */
export class DescribedPackages {
  readonly #parts: DescribedPackagesParts;
  readonly #kept = new WeakMap<Release, Described>();

  constructor(parts: DescribedPackagesParts) {
    this.#parts = parts;
  }

  of(admitted: Describable): Promise<readonly MirroredPackage[]> {
    const { release } = admitted;
    const { revision } = this.#parts.hashes;
    const kept = this.#kept.get(release);
    if (kept?.revision === revision) return kept.packages;
    const packages = this.#describeAll(admitted);
    this.#kept.set(release, { packages, revision });
    packages.catch(() => this.#kept.delete(release));
    return packages;
  }

  async #describeAll({
    request: { address, origin },
    release,
  }: Describable): Promise<readonly MirroredPackage[]> {
    const { hashes, alarms } = this.#parts;
    const { reportedHashes } = origin;
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
