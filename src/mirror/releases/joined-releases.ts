import { failure } from "../../errors/index.ts";
import { agrees, widen } from "../../trust/content.ts";
import type { PinnedChecksums } from "../../trust/state.ts";
import {
  faultyEvidence,
  type KnownRelease,
  type StoredEvidence,
} from "./known-release.ts";
import { readProof, type ReleaseBody } from "./release-body.ts";
import { formatRelease, type ReleaseAddress } from "./release.ts";

/**
 * Joins a release to its record, which another replica may have
 * changed since it was `known`. Pinned checksums on record stay, and evidence
 * is added. Evidence of other replicas has to be read again before it counts.
 */
export function joinReleases(
  address: ReleaseAddress,
  ours: KnownRelease,
  known: KnownRelease | undefined,
  recorded: ReleaseBody | undefined,
): { readonly value: KnownRelease; readonly isRead: boolean } {
  if (recorded === undefined) return { value: ours, isRead: true };
  const ids = new Set(
    [ours, known].flatMap((one) =>
      (one?.trust.evidence ?? []).map(({ id }) => id),
    ),
  );
  const others = recorded.evidence
    .map((body) => asUnread(address, body))
    .filter(({ id }) => !ids.has(id));
  const pinned = joinPinned(ours.trust.pinned, recorded.pinned);
  const evidence = [...others, ...ours.trust.evidence];
  const trust = { ...ours.trust, pinned, evidence };
  const offered = joinOffered(ours.offered, recorded.offered);
  const isRead = others.length === 0;
  const isOurs =
    isRead && pinned === ours.trust.pinned && offered === ours.offered;
  return {
    value: isOurs ? ours : { ...ours, trust, offered },
    isRead,
  };
}

/** Joins the platforms ever offered; unknown if either side is. */
function joinOffered(
  ours: KnownRelease["offered"],
  recorded: ReleaseBody["offered"],
): KnownRelease["offered"] {
  if (ours === undefined || recorded === undefined) return undefined;
  const isWider = recorded.some((platform) => !ours.has(platform));
  return isWider ? new Set([...recorded, ...ours]) : ours;
}

function joinPinned(
  ours: PinnedChecksums | undefined,
  recorded: PinnedChecksums | undefined,
): PinnedChecksums | undefined {
  if (recorded === undefined || ours === undefined) return recorded ?? ours;
  if (!agrees(recorded.content, ours.content)) return recorded;
  const content = widen(recorded.content, ours.content);
  const isAudited = recorded.isAudited || ours.isAudited;
  const isOurs =
    ours.sha256sums === recorded.sha256sums &&
    ours.isAudited === isAudited &&
    ours.content.size === content.size;
  return isOurs ? ours : { ...recorded, content, isAudited };
}

function asUnread(
  address: ReleaseAddress,
  body: ReleaseBody["evidence"][number],
): StoredEvidence {
  const fault = failure(
    "signature-undecided",
    formatRelease(address),
    "not read yet",
  );
  const { keyLabels, noted } = body;
  const proof = readProof(body);
  return { ...faultyEvidence(address, proof, keyLabels, body, fault), noted };
}
