import type { Sha256 } from "../address/hash.ts";
import { decideByAge, type AgeDecision, type AgeTerms } from "./age.ts";
import { agrees, type Content } from "./content.ts";
import { findKeyDecision, listApproved } from "./decisions.ts";
import { judgeKey, type KeyQuestion } from "./key-verdict.ts";
import {
  type CandidateReason,
  candidateReasons,
  type Evidence,
  type PinnedChecksums,
  type ReleaseTrust,
} from "./state.ts";

/** Everything that decides on one release. */
export interface ReleaseQuestion<
  E extends Evidence = Evidence,
> extends KeyQuestion {
  readonly release: ReleaseTrust<E>;
  readonly age: AgeTerms;
  /** False where the policy only reports. */
  readonly enforcesAge: boolean;
}

/** A release as clients may have it now. */
export interface Served<E extends Evidence = Evidence> {
  readonly kind: "served";
  /** The evidence that names the most archives. */
  readonly evidence: E;
  /** Archives by OS_ARCH, each with the evidence that names it. */
  readonly packages: ReadonlyMap<
    string,
    { readonly sha256: Sha256; readonly evidence: E }
  >;
  readonly age: AgeDecision;
}

/** A release that clients may not have now. */
export interface Refused<E extends Evidence = Evidence> {
  readonly kind: "refused";
  /** `signature`: the evidence does not hold. `age`: it is too young. */
  readonly because: CandidateReason | "signature" | "age";
  readonly evidence: E;
  readonly age: AgeDecision;
}

/** `empty`: nothing verified is known of it. */
export type Standing<E extends Evidence = Evidence> =
  Served<E> | Refused<E> | { readonly kind: "empty" };

/** A content that could be served, and the evidence that counts for it. */
interface Choice<E extends Evidence> {
  readonly content: Content;
  readonly evidence: readonly E[];
  /** When it was pinned; undefined for a content that an operator approved, which needs no age. */
  readonly since: Date | undefined;
}

/**
 * Decides what clients get of a release: an approved content, else the pinned
 * one, for every platform that some good and acceptable evidence names
 * (docs/trust.md, rules 1, 5 and 8).
 */
export function standingOf<E extends Evidence>(
  question: ReleaseQuestion<E>,
): Standing<E> {
  for (const choice of listChoices(question)) {
    const served = serve(question, choice);
    if (served !== undefined) return served;
  }
  return explainRefusal(question);
}

/** Says whether evidence agrees with the pinned checksums; without any, it does. */
export function isInAgreement(
  pinned: PinnedChecksums | undefined,
  { content }: Pick<Evidence, "content">,
): boolean {
  return pinned === undefined || agrees(pinned.content, content);
}

/** True for evidence that was a candidate when it was judged last. */
export function isCandidate(
  noted: Evidence["noted"],
): noted is CandidateReason {
  return candidateReasons.some((reason) => reason === noted);
}

/** Finds the content that an operator approved, by its digest alone; nothing else is learnt from it. */
export function isApprovedContent(
  { namespace, name }: KeyQuestion,
  { sha256sums }: Pick<Evidence, "sha256sums">,
): boolean {
  return listApproved(namespace.decisions, name).includes(sha256sums);
}

/** An approved content may be signed by any key but a revoked one, or one that pins exclude. */
export function isTaken(
  question: KeyQuestion,
  { signedBy }: Evidence,
): boolean {
  const { namespace, name, rules } = question;
  if (findKeyDecision(namespace.decisions, "revoked", name, signedBy))
    return false;
  if (rules.pins !== undefined)
    return signedBy !== undefined && rules.pins.has(signedBy);
  return rules.newKeys !== "refuse";
}

export function ageOf(
  { age }: Pick<ReleaseQuestion, "age">,
  evidence: readonly Evidence[],
  since: Date | undefined,
): AgeDecision {
  const signed = evidence.flatMap(({ signedAt }) => signedAt?.getTime() ?? []);
  // What nobody signed counts from when it was pinned.
  if (signed.length === 0) return decideByAge(age, since);
  const known = since === undefined ? signed : [...signed, since.getTime()];
  return decideByAge(age, new Date(Math.min(...known)));
}

/** Approved contents, the newest decision first, then the pinned one. */
function* listChoices<E extends Evidence>(
  question: ReleaseQuestion<E>,
): Generator<Choice<E>> {
  const { release, namespace, name } = question;
  const good = release.evidence.filter(({ isGood }) => isGood);
  const isAccepted = (one: E) => judgeKey(question, one).accepted;
  for (const digest of listApproved(namespace.decisions, name)) {
    const content = release.evidence.find(
      ({ sha256sums }) => sha256sums === digest,
    )?.content;
    if (content === undefined) continue;
    const counts = (one: E) =>
      one.sha256sums === digest
        ? isTaken(question, one)
        : agrees(content, one.content) && isAccepted(one);
    yield { content, evidence: good.filter(counts), since: undefined };
  }
  const { pinned } = release;
  if (pinned === undefined) return;
  const evidence = good.filter(
    (one) => isInAgreement(pinned, one) && isAccepted(one),
  );
  yield { content: pinned.content, evidence, since: pinned.at };
}

function serve<E extends Evidence>(
  question: ReleaseQuestion<E>,
  { content, evidence, since }: Choice<E>,
): Served<E> | Refused<E> | undefined {
  const packages = new Map<string, { sha256: Sha256; evidence: E }>();
  const widest = evidence
    .toReversed()
    .toSorted((one, other) => other.content.size - one.content.size);
  for (const one of widest)
    for (const [platform, sha256] of one.content)
      if (content.get(platform) === sha256 && !packages.has(platform))
        packages.set(platform, { sha256, evidence: one });
  const [main] = widest;
  // A document may name every archive of its release twice, and so none of them.
  const isEmpty = content.size > 0 && packages.size === 0;
  if (main === undefined || isEmpty) return undefined;
  const age: AgeDecision =
    since === undefined ? { old: true } : ageOf(question, evidence, since);
  if (!age.old && question.enforcesAge)
    return { kind: "refused", because: "age", evidence: main, age };
  return { kind: "served", evidence: main, packages, age };
}

/** Names the evidence whose remedy helps: the newest that is good, else the newest. */
function explainRefusal<E extends Evidence>(
  question: ReleaseQuestion<E>,
): Standing<E> {
  const { pinned, evidence } = question.release;
  const own = evidence.filter((one) => isInAgreement(pinned, one));
  const candidates = own.length > 0 ? own : evidence;
  const newest =
    candidates.findLast(({ isGood }) => isGood) ?? candidates.at(-1);
  if (newest === undefined) return { kind: "empty" };
  const key = judgeKey(question, newest);
  let because: Refused["because"] = "age";
  if (!isInAgreement(pinned, newest)) because = "other-content";
  else if (!newest.isGood) because = "signature";
  else if (!key.accepted) because = key.because;
  const age = ageOf(question, [newest], undefined);
  return { kind: "refused", because, evidence: newest, age };
}
