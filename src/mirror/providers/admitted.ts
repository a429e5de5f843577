import type { Version } from "../../address/version.ts";
import type { Release, ReleasePackage } from "../releases/release.ts";
import type { VersionList } from "../releases/version-list.ts";
import type { LeftOut } from "../trust/left-out.ts";
import type { ProviderRequest, ReleaseRequest } from "../trust/request.ts";

/** What clients may have of a provider's versions, newest first, and what else there is. */
export interface Listing {
  readonly versions: readonly Version[];
  readonly leftOut: readonly LeftOut[];
  /** What of the versions a policy that only reports would leave out. */
  readonly reported: readonly LeftOut[];
}

/** The same with what it was decided by. */
export interface AdmittedVersions extends Listing {
  readonly request: ProviderRequest;
  /** What the origin listed; undefined for a mirror that never asked it. */
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
