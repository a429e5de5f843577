import type { Version } from "../../address/version.ts";
import type { Release, ReleasePackage } from "../releases/release.ts";
import type { VersionList } from "../releases/version-list.ts";
import type { ProviderRequest, ReleaseRequest } from "../trust/request.ts";

/** The versions of a provider that clients may have, newest first, with what that was decided by. */
export interface AdmittedVersions {
  readonly request: ProviderRequest;
  readonly versions: readonly Version[];
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
