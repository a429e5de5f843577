import { widen } from "./content.ts";
import { learnProviderKey } from "./first-contact.ts";
import { judgeKey } from "./key-verdict.ts";
import {
  ageOf,
  isApprovedContent,
  isCandidate,
  isInAgreement,
  isTaken,
  standingOf,
  type ReleaseQuestion,
  type Standing,
} from "./standing.ts";
import type {
  Acceptance,
  CandidateReason,
  Evidence,
  ReleaseTrust,
} from "./state.ts";

/** Something that people hear of, once it is written. */
export type TrustEvent<E = Evidence> =
  | { readonly kind: "pinned"; readonly evidence: E }
  | {
      readonly kind: "accepted";
      readonly evidence: E;
      readonly because: Acceptance;
      readonly alarms: boolean;
    }
  | {
      readonly kind: "candidate";
      readonly evidence: E;
      readonly reason: CandidateReason;
    }
  /** The origin offers the pinned content again: other contents are no longer in question. */
  | { readonly kind: "healed"; readonly evidence: E }
  /** The registry's newest keys take an accepted signature away. */
  | { readonly kind: "lost"; readonly evidence: E };

/** A release after an event. */
export interface Settled<E extends Evidence = Evidence> {
  /** Key that counts for the whole provider from now on, written together with `release`; the rest is settled with it. */
  readonly firstSigner: string | undefined;
  /** The same object as before when there is nothing to write; written together with `events`. */
  readonly release: ReleaseTrust<E>;
  readonly events: readonly TrustEvent<E>[];
  readonly standing: Standing<E>;
}

/** Evidence that is kept of one release, candidates included (docs/trust.md, rule 2). */
const mostEvidence = 8;

/**
 * Admits what may be admitted, pins it, and says what clients get: verify, admit,
 * pin, answer (docs/trust.md, rule 2). An offer that is not admitted changes nothing.
 */
export function settle<E extends Evidence>(
  asked: ReleaseQuestion<E>,
): Settled<E> {
  const first = findFirst(asked);
  const events: TrustEvent<E>[] = [];
  let question = asked;
  if (first !== undefined) {
    const { content, sha256sums, signedBy } = first;
    const pinned = { content, sha256sums, signedBy, at: asked.age.now };
    question = { ...asked, release: { ...asked.release, pinned } };
    events.push({ kind: "pinned", evidence: first });
  }
  const firstSigner = findFirstSigner(question);
  if (firstSigner !== undefined) {
    const { name } = asked;
    const namespace = learnProviderKey(asked.namespace, name, firstSigner);
    return { ...settle({ ...asked, namespace }), firstSigner };
  }
  const settled = widenPinned(question);
  const kept = dropSettled(question);
  const evidence = kept.map((one) => {
    // By what was pinned before: evidence is no witness of platforms that it added.
    const event = verdictOn(question, one);
    const noted = event && notedBy(event);
    if (event === undefined || noted === one.noted) return one;
    events.push(event);
    return { ...one, noted };
  });
  const newest = kept.at(-1);
  if (newest !== undefined && kept.length < question.release.evidence.length)
    events.push({ kind: "healed", evidence: newest });
  return {
    firstSigner,
    release:
      events.length === 0 ? settled.release : { ...settled.release, evidence },
    events,
    standing: standingOf(settled),
  };
}

/** Finds the key that becomes the provider's own by this release; undefined where one is known. */
function findFirstSigner(question: ReleaseQuestion): string | undefined {
  const { name, namespace, release } = question;
  if (namespace.providerKeys.some(({ type }) => type === name.type))
    return undefined;
  const signed = release.evidence.findLast((one) => {
    const event = verdictOn(question, one);
    return event && notedBy(event) === "first-key";
  });
  return signed?.signedBy;
}

/** Adds what an origin or a bundle offers now; an offer that is known comes last again. */
export function addEvidence<E extends Evidence>(
  release: ReleaseTrust<E>,
  offered: E,
  isProtected: (evidence: E) => boolean,
): ReleaseTrust<E> {
  const known = release.evidence.find(({ id }) => id === offered.id);
  const newest = known ? { ...offered, noted: known.noted } : offered;
  const others = release.evidence.filter(({ id }) => id !== offered.id);
  const dropped =
    others.length < mostEvidence
      ? undefined
      : findDropped(release, others, isProtected);
  const kept = others.filter((one) => one !== dropped);
  return { ...release, evidence: [...kept, newest] };
}

/** Finds the evidence to drop: other content, then what adds nothing, and the evidence that pinned last of all. */
function findDropped<E extends Evidence>(
  { pinned }: ReleaseTrust<E>,
  evidence: readonly E[],
  isProtected: (evidence: E) => boolean,
): E | undefined {
  const adds = ({ noted }: E) =>
    !isCandidate(noted) && noted !== "same-digests";
  const isFirst = ({ sha256sums, signedBy }: E) =>
    sha256sums === pinned?.sha256sums && signedBy === pinned.signedBy;
  return (
    evidence.find((one) => !isProtected(one)) ??
    evidence.find((one) => !adds(one)) ??
    evidence.find((one) => !isFirst(one)) ??
    evidence[0]
  );
}

/** Finds what is to be pinned: the newest evidence that is good, acceptable and old enough, where nothing is pinned yet. */
function findFirst<E extends Evidence>(
  question: ReleaseQuestion<E>,
): E | undefined {
  const { release, enforcesAge } = question;
  if (release.pinned !== undefined) return undefined;
  return release.evidence.findLast(
    (one) =>
      one.isGood &&
      judgeKey(question, one).accepted &&
      (!enforcesAge || ageOf(question, [one], undefined).old),
  );
}

/** Platforms beside the pinned ones are added by acceptable evidence that agrees (docs/trust.md, rule 1). */
function widenPinned<E extends Evidence>(
  question: ReleaseQuestion<E>,
): ReleaseQuestion<E> {
  const { release } = question;
  const { pinned } = release;
  if (pinned === undefined) return question;
  let { content } = pinned;
  for (const one of release.evidence)
    if (
      one.isGood &&
      isInAgreement({ ...pinned, content }, one) &&
      judgeKey(question, one).accepted
    )
      content = widen(content, one.content);
  return content === pinned.content
    ? question
    : { ...question, release: { ...release, pinned: { ...pinned, content } } };
}

/** Once the newest offer is the pinned content, candidates of other content go. */
function dropSettled<E extends Evidence>(
  question: ReleaseQuestion<E>,
): readonly E[] {
  const { pinned, evidence } = question.release;
  const newest = evidence.at(-1);
  if (pinned === undefined || newest === undefined) return evidence;
  const isHealed =
    newest.isGood &&
    isInAgreement(pinned, newest) &&
    judgeKey(question, newest).accepted;
  if (!isHealed) return evidence;
  return evidence.filter(
    (one) => isInAgreement(pinned, one) || isApprovedContent(question, one),
  );
}

/** Undefined where nothing is decided yet, and for evidence that never held. */
function verdictOn<E extends Evidence>(
  question: ReleaseQuestion,
  evidence: E,
): TrustEvent<E> | undefined {
  if (!evidence.isGood) return evidence.noted && { kind: "lost", evidence };
  const { pinned } = question.release;
  if (isApprovedContent(question, evidence) && isTaken(question, evidence))
    return { kind: "accepted", evidence, because: "approved", alarms: false };
  const key = judgeKey(question, evidence);
  if (!isInAgreement(pinned, evidence))
    return { kind: "candidate", evidence, reason: "other-content" };
  if (!key.accepted)
    return { kind: "candidate", evidence, reason: key.because };
  if (pinned === undefined) return undefined;
  const { because, alarms } = key;
  return { kind: "accepted", evidence, because, alarms };
}

/** What is noted of evidence once people heard of it. */
function notedBy(event: TrustEvent): Evidence["noted"] {
  if (event.kind === "accepted") return event.because;
  return event.kind === "candidate" ? event.reason : "signature";
}
