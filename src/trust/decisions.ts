/** Operator, reason and moment of a decision. */
export interface Decided {
  /** RFC 3339. */
  readonly at: string;
  /** Login name of the operator. */
  readonly by?: string | undefined;
  readonly why?: string | undefined;
}

/** Scope of a key decision: the namespace, one provider of it, or one release. */
export interface KeyScope {
  /** Provider type; null for the whole namespace. */
  readonly type: string | null;
  /** Version of one release; null for the whole provider or namespace. */
  readonly version: string | null;
}

/** The key is acceptable or not; the content is served or not. Taking one back leaves nothing of it. */
export type Decision = "approved" | "revoked";

export interface KeyDecision extends Decided, KeyScope {
  readonly fingerprint: string;
  readonly decision: Decision;
}

/** A release within its namespace. */
export interface ReleaseName {
  readonly type: string;
  readonly version: string;
}

/** Approval of exactly one content in place of the pinned one, or its revocation under any key. */
export interface ContentDecision extends Decided, ReleaseName {
  /** SHA-256 of its SHA256SUMS. */
  readonly sha256sums: string;
  readonly decision: Decision;
}

/** Decisions of operators in one namespace, the oldest first. */
export interface Decisions {
  readonly keys: readonly KeyDecision[];
  readonly contents: readonly ContentDecision[];
}

export const noDecisions: Decisions = { keys: [], contents: [] };

/** What a decision is about: a key in one scope, or a content of a release. */
type Subject =
  | (KeyScope & Pick<KeyDecision, "fingerprint">)
  | (ReleaseName & Pick<ContentDecision, "sha256sums">);

/** Records a decision in place of an earlier one on the same; the newest approval of a release goes first when it is served. */
export function decide(
  decisions: Decisions,
  decision: KeyDecision | ContentDecision,
): Decisions {
  const { keys, contents } = forget(decisions, decision);
  return "fingerprint" in decision
    ? { keys: [...keys, decision], contents }
    : { keys, contents: [...contents, decision] };
}

/** Takes a decision back, as if it had never been made. */
export function forget(
  { keys, contents }: Decisions,
  subject: Subject,
): Decisions {
  const isOther = (one: Subject) => !isSame(one, subject);
  return { keys: keys.filter(isOther), contents: contents.filter(isOther) };
}

/** Lists what is decided on the contents of a release, the newest decision first. */
export function listDecided(
  { contents }: Decisions,
  release: ReleaseName,
): readonly ContentDecision[] {
  return contents.filter((one) => isSameRelease(one, release)).toReversed();
}

/** Lists the digests of the approved contents of a release, the newest approval first. */
export function listApproved(
  decisions: Decisions,
  release: ReleaseName,
): readonly string[] {
  return listDecided(decisions, release)
    .filter(({ decision }) => decision === "approved")
    .map(({ sha256sums }) => sha256sums);
}

/** Finds a decision on a key for the namespace, the provider or the release; a revocation goes before every approval, rule 4. */
export function findKeyDecision(
  { keys }: Decisions,
  decision: Decision,
  release: ReleaseName,
  fingerprint: string | undefined,
): KeyDecision | undefined {
  return keys.find(
    (key) =>
      key.decision === decision &&
      key.fingerprint === fingerprint &&
      (key.type === null || key.type === release.type) &&
      (key.version === null || key.version === release.version),
  );
}

function isSameRelease(one: KeyScope, other: KeyScope): boolean {
  return one.type === other.type && one.version === other.version;
}

/** True for decisions on one key in one scope, or on one content. */
export function isSame(one: Subject, other: Subject): boolean {
  const nameOf = (subject: Subject) =>
    "fingerprint" in subject ? subject.fingerprint : subject.sha256sums;
  return isSameRelease(one, other) && nameOf(one) === nameOf(other);
}
