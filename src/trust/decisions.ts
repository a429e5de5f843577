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

export interface KeyDecision extends Decided, KeyScope {
  readonly fingerprint: string;
  readonly decision: "approved" | "revoked";
}

/** A release within its namespace. */
export interface ReleaseName {
  readonly type: string;
  readonly version: string;
}

/** Approval of exactly one content in place of the pinned one. */
interface ContentDecision extends Decided, ReleaseName {
  /** SHA-256 of its SHA256SUMS. */
  readonly sha256sums: string;
}

/** Decisions of operators in one namespace, the oldest first. */
export interface Decisions {
  readonly keys: readonly KeyDecision[];
  readonly contents: readonly ContentDecision[];
}

export const noDecisions: Decisions = { keys: [], contents: [] };

/** Records a key decision in place of an earlier one for the same scope. */
export function decideKey(
  { keys, contents }: Decisions,
  decision: KeyDecision,
): Decisions {
  const others = keys.filter((key) => !isSameKey(key, decision));
  return { keys: [...others, decision], contents };
}

/** Records the approval of a content; the newest approval of a release goes first when it is served. */
export function approveContent(
  decisions: Decisions,
  approval: ContentDecision,
): Decisions {
  const { keys, contents } = withdrawContent(decisions, approval);
  return { keys, contents: [...contents, approval] };
}

/** Removes the approval of a content. Returns `decisions` itself where there is none. */
export function withdrawContent(
  decisions: Decisions,
  content: ReleaseName & Pick<ContentDecision, "sha256sums">,
): Decisions {
  const contents = decisions.contents.filter(
    (one) =>
      !isSameRelease(one, content) || one.sha256sums !== content.sha256sums,
  );
  return contents.length === decisions.contents.length
    ? decisions
    : { keys: decisions.keys, contents };
}

/** Lists the digests of the approved contents of a release, the newest approval first. */
export function listApproved(
  { contents }: Decisions,
  release: ReleaseName,
): readonly string[] {
  return contents
    .filter((one) => isSameRelease(one, release))
    .map(({ sha256sums }) => sha256sums)
    .toReversed();
}

/** Revoked for any scope that covers the release, rule 4: a revocation goes before every approval. */
export function isRevoked(
  decisions: Decisions,
  release: ReleaseName,
  fingerprint: string | undefined,
): boolean {
  return isDecided(decisions, "revoked", release, fingerprint);
}

/** Approved for the namespace, the provider or the release. */
export function isKeyApproved(
  decisions: Decisions,
  release: ReleaseName,
  fingerprint: string | undefined,
): boolean {
  return isDecided(decisions, "approved", release, fingerprint);
}

function isSameRelease(one: ReleaseName, other: ReleaseName): boolean {
  return one.type === other.type && one.version === other.version;
}

function isDecided(
  { keys }: Decisions,
  decision: KeyDecision["decision"],
  release: ReleaseName,
  fingerprint: string | undefined,
): boolean {
  return keys.some(
    (key) =>
      key.decision === decision &&
      key.fingerprint === fingerprint &&
      (key.type === null || key.type === release.type) &&
      (key.version === null || key.version === release.version),
  );
}

function isSameKey(one: KeyDecision, other: KeyDecision): boolean {
  return (
    one.fingerprint === other.fingerprint &&
    one.type === other.type &&
    one.version === other.version
  );
}
