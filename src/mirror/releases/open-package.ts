import { isFailure } from "../../errors/index.ts";
import type { OriginArchive } from "../../origin/http/http-client.ts";
import { verifyRegistryDigest } from "../../verification/signed-checksums.ts";
import type { ReleaseAddress, ReleasePackage } from "./release.ts";
import type { ReleaseOrigin } from "./release-origin.ts";

/**
 * Opens the archive at the URL that the origin gave with the release. If that
 * fails, asks the origin for the current URL, whose `shasum` must equal the
 * signed one.
 */
export async function openPackage(
  { registry }: ReleaseOrigin,
  { provider, version }: ReleaseAddress,
  { platform, filename, sha256 }: ReleasePackage,
  place: string | undefined,
  signal: AbortSignal,
): Promise<OriginArchive> {
  const open = (url: URL) =>
    registry.openArchive({ downloadUrl: url }, signal, provider);
  let failure: unknown;
  try {
    if (place !== undefined) return await open(new URL(place));
  } catch (error) {
    if (!mayHaveMoved(error)) throw error;
    failure = error;
  }
  const found = await registry.findPackage(provider, version, platform, signal);
  verifyRegistryDigest(filename, sha256, found.shasum);
  if (found.downloadUrl.href === place) throw failure;
  return open(found.downloadUrl);
}

/** Signed URLs expire, and hosts answer for that with a status or a page; hosts leave, too, or were named wrongly. */
function mayHaveMoved(error: unknown): boolean {
  return isFailure(
    error,
    "origin-status",
    "origin-unreachable",
    "origin-address-refused",
    "origin-credentials",
    "origin-answer",
  );
}
