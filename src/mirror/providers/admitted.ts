import type { Listing } from "./listing.ts";
import type { Release, ReleasePackage } from "../releases/release.ts";
import type { VersionList } from "../versions/version-list.ts";
import type { ProviderRequest, ReleaseRequest } from "../trust/request.ts";

/** The same with what it was decided by. */
export interface AdmittedVersions extends Listing {
  readonly request: ProviderRequest;
  /** Version list of the origin; undefined for a mirror that never asked it. */
  readonly list: VersionList | undefined;
}

/** A release that clients may have, with what that was decided by. */
export interface AdmittedRelease {
  readonly request: ReleaseRequest;
  readonly release: Release;
  readonly list: VersionList | undefined;
}

/** One package of such a release. */
export interface AdmittedPackage {
  readonly request: ReleaseRequest;
  readonly release: Release;
  readonly found: ReleasePackage;
}
