import type { ProviderAddress } from "../../address/provider-address.ts";
import { isPrerelease } from "../../address/version-constraint.ts";
import { compareVersions, type Version } from "../../address/version.ts";
import {
  isOriginFailure,
  ProvenderError,
  TooYoung,
} from "../../errors/index.ts";
import type { Admission } from "../trust/admission.ts";
import type { ProviderCatalog } from "./provider-catalog.ts";
import type { ReleaseAddress } from "../releases/release.ts";
import type { VersionList } from "../releases/version-list.ts";

/** How many versions are tried until one's key is learnt. */
const teachers = 3;

/** The first contact with a provider teaches its key, in the background, so that later releases can be held against it. */
export async function learnKey(
  mirror: { findRelease(address: ReleaseAddress): Promise<unknown> },
  parts: { readonly catalog: ProviderCatalog; readonly admission: Admission },
  provider: ProviderAddress,
  list: VersionList,
): Promise<void> {
  for (const version of listTeachers(list)) {
    const address = { provider, version };
    try {
      parts.admission.admitVersion(address);
      if ((await parts.catalog.peekRelease(address)) === undefined)
        await mirror.findRelease(address);
      return;
    } catch (error) {
      if (!isRefusal(error)) return;
    }
  }
}

/** Versions of the first list, releases before prereleases, newest first. */
function listTeachers({ versions }: VersionList): readonly Version[] {
  const first = [...versions.values()]
    .filter(({ appeared, listed }) => listed && appeared === undefined)
    .map(({ version }) => version)
    .toSorted((a, b) => compareVersions(b, a));
  return [
    ...first.filter((version) => !isPrerelease(version)),
    ...first.filter(isPrerelease),
  ].slice(0, teachers);
}

/** Of the release as such; one that is only too young has taught its key. */
function isRefusal(error: unknown): boolean {
  return (
    error instanceof ProvenderError &&
    !isOriginFailure(error) &&
    !(error instanceof TooYoung)
  );
}
