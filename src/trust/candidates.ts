import {
  findKeyDecision,
  listDecided,
  type Decisions,
  type ReleaseName,
} from "./decisions.ts";
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

/** Bounds of docs/trust.md, rule 2; the newest stay, because origins offer them now. */
const mostOfRelease = 8;
const mostOfProvider = 256;

/** Adds to the candidates of a provider, the oldest first, in place of an earlier entry for the same content of the release. */
export function addCandidate(
  candidates: readonly Candidate[],
  candidate: Candidate,
): readonly Candidate[] {
  const { version, sha256sums } = candidate;
  const others = candidates.filter(
    (one) => one.version !== version || one.sha256sums !== sha256sums,
  );
  const full = others
    .filter((one) => one.version === version)
    .slice(0, 1 - mostOfRelease);
  const kept = others.filter((one) => !full.includes(one));
  return [...kept, candidate].slice(-mostOfProvider);
}

/** Removes the candidates of a release, or the one with that document. Returns `candidates` itself where there are none. */
export function dropCandidates(
  candidates: readonly Candidate[],
  version: string,
  sha256sums?: string,
): readonly Candidate[] {
  const kept = candidates.filter(
    (one) =>
      one.version !== version ||
      (sha256sums !== undefined && one.sha256sums !== sha256sums),
  );
  return kept.length === candidates.length ? candidates : kept;
}

/** True until an operator decided on its content or its key. */
export function needsDecision(
  decisions: Decisions,
  name: ReleaseName,
  { sha256sums, fingerprint, reason }: Omit<Candidate, "since" | "version">,
): boolean {
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
