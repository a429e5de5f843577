import type { KeyQuestion } from "../../verification/trust-policy.ts";
import { documentDigest } from "../releases/continuity.ts";
import type { Release, ReleaseAddress } from "../releases/release.ts";
import { firstContactOf, type VersionList } from "../releases/version-list.ts";
import {
  findLesson,
  hasKeys,
  isApproved,
  isSameRelease,
  knownKeys,
  revokedKeys,
  type NamespaceTrust,
  type OfferedContent,
  type ReleaseName,
  type Seen,
} from "./namespace-trust.ts";

/** What the ledger and the list know of who signed a release; the configuration's part is left out. */
export function askOfKey(
  { provider, version }: ReleaseAddress,
  release: Release,
  list: VersionList | undefined,
  trust: NamespaceTrust,
): Omit<KeyQuestion, "newKeys" | "pins"> {
  const { type } = provider;
  const { signedBy, signedAt } = release.checksums;
  const name = { type, version };
  const anew = findNewSigner(trust, name);
  const isAnew = anew !== undefined && anew.fingerprint === signedBy;
  return {
    signedBy,
    signedAt,
    known: knownKeys(trust, type),
    revoked: revokedKeys(trust, type),
    isContinued: isContinued(trust, type, list),
    approved: isApproved(trust, name, contentOf(release)),
    signedAnew: isAnew && anew.unvouched !== true,
    firstContact: isAnew ? undefined : findContact(trust, name, list, signedBy),
  };
}

/** True for a list that was made after the first one was lost: what that one had is unknown. */
export function isMadeAgain(
  trust: NamespaceTrust,
  type: string,
  { firstContact }: VersionList,
): boolean {
  const lesson = findLesson(trust, type);
  return lesson?.byList === true && firstContact > new Date(lesson.since);
}

/** Without a lesson, any key may begin a provider only while no list of it was seen and no key of its namespace is known. */
function isContinued(
  trust: NamespaceTrust,
  type: string,
  list: VersionList | undefined,
): boolean {
  const lesson = findLesson(trust, type);
  return lesson === undefined
    ? list !== undefined || hasKeys(trust)
    : lesson.fingerprint !== null;
}

/** Without a list, a bundle may have been the first contact with the provider: when it came, if it had releases under this key. */
function findContact(
  trust: NamespaceTrust,
  { type, version }: Pick<ReleaseAddress, "version"> & { type: string },
  list: VersionList | undefined,
  fingerprint: string | undefined,
): Date | undefined {
  if (list !== undefined)
    return isMadeAgain(trust, type, list)
      ? undefined
      : firstContactOf(list, version);
  const lesson = findLesson(trust, type);
  const carried = trust.seen.keys.find(
    (key) =>
      key.scope === "release" &&
      key.type === type &&
      key.since === lesson?.since &&
      key.fingerprint === fingerprint,
  );
  return carried && new Date(carried.since);
}

/** What an operator would approve of a release. */
export function contentOf(release: Release): OfferedContent {
  const fingerprint = release.checksums.signedBy ?? "none";
  return { fingerprint, digest: () => documentDigest(release) };
}

/** Who signed a fallen release anew. */
export function findNewSigner(
  { seen }: NamespaceTrust,
  name: ReleaseName,
): Seen["resigned"][number] | undefined {
  return seen.resigned.find((entry) => isSameRelease(entry, name));
}

/** True when releases of the provider were accepted under the key, be it for themselves alone, or this one because it was signed anew. */
export function isGood(
  trust: NamespaceTrust,
  name: ReleaseName,
  fingerprint: string,
): boolean {
  const { type } = name;
  if (revokedKeys(trust, type).has(fingerprint)) return false;
  const isIt = (key: Seen["keys"][number]) =>
    key.type === type && key.fingerprint === fingerprint;
  const anew = findNewSigner(trust, name);
  return (
    knownKeys(trust, type).has(fingerprint) ||
    trust.seen.keys.some(isIt) ||
    (anew?.fingerprint === fingerprint && anew.unvouched !== true)
  );
}
