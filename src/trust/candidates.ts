import { findKeyDecision, listDecided, type Decisions } from "./decisions.ts";
import type { CandidateReason } from "./state.ts";

/** An offer that was verified and not admitted. */
export interface Candidate {
  readonly version: string;
  /** SHA-256 of its SHA256SUMS. */
  readonly sha256sums: string;
  /** Undefined for an unsigned release. */
  readonly fingerprint: string | undefined;
  readonly reason: CandidateReason;
  /** RFC 3339. */
  readonly since: string;
}

/** Candidates of one provider, the oldest first. */
export interface Candidates {
  readonly list: readonly Candidate[];
  /** Candidates that the bounds dropped. */
  readonly dropped: number;
}

export const noCandidates: Candidates = { list: [], dropped: 0 };

/** Bounds of docs/trust.md, rule 2; the newest stay, because origins offer them now. */
const mostOfRelease = 8;
const mostOfProvider = 256;

/** Adds a candidate in place of an earlier entry for the same content of the release. */
export function addCandidate(
  { list, dropped }: Candidates,
  candidate: Candidate,
): Candidates {
  const others = list.filter((one) => !isSame(one, candidate));
  const full = others
    .filter(({ version }) => version === candidate.version)
    .slice(0, 1 - mostOfRelease);
  const kept = others.filter((one) => !full.includes(one));
  const next = [...kept, candidate].slice(-mostOfProvider);
  const lost = others.length + 1 - next.length;
  return { list: next, dropped: dropped + lost };
}

/** Removes the candidates of a release, or the one with that document. Returns `candidates` itself where there are none; with the last one the count goes. */
export function dropCandidates(
  candidates: Candidates,
  version: string,
  sha256sums?: string,
): Candidates {
  const list = candidates.list.filter(
    (one) =>
      one.version !== version ||
      (sha256sums !== undefined && one.sha256sums !== sha256sums),
  );
  if (list.length === candidates.list.length) return candidates;
  return list.length === 0 ? noCandidates : { ...candidates, list };
}

/** True until an operator decided on its content or its key. */
export function needsDecision(
  decisions: Decisions,
  type: string,
  { version, sha256sums, fingerprint, reason }: Omit<Candidate, "since">,
): boolean {
  const name = { type, version };
  const decided = listDecided(decisions, name);
  if (decided.some((one) => one.sha256sums === sha256sums)) return false;
  if (findKeyDecision(decisions, "revoked", name, fingerprint)) return false;
  // A revocation that was taken back leaves nothing: the next look says what stands in the way.
  if (reason === "revoked" || reason === "revoked-content") return false;
  return !(
    reason === "unknown" &&
    findKeyDecision(decisions, "approved", name, fingerprint)
  );
}

function isSame(one: Candidate, other: Candidate): boolean {
  return one.version === other.version && one.sha256sums === other.sha256sums;
}
