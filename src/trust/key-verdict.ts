import { agrees, isWithin } from "./content.ts";
import {
  findKeyDecision,
  listDecided,
  type ContentDecision,
  type ReleaseName,
} from "./decisions.ts";
import type {
  Acceptance,
  Evidence,
  FirstContact,
  KeyRefusal,
  NamespaceTrust,
  ReleaseTrust,
} from "./state.ts";

/** `trust.newKeys`: what becomes of a key that is not known for its provider. */
export type NewKeys = "accept" | "accept-first" | "refuse";

/** `trust` of the configuration for one provider. */
export interface KeyRules {
  readonly newKeys: NewKeys;
  /** Fingerprints that `trust.keys` names for it; undefined when it names none. */
  readonly pins: ReadonlySet<string> | undefined;
  /** Fingerprint of the publisher's key where the program knows it: what a first contact met teaches nothing then. */
  readonly knownKey?: string | undefined;
}

/** Everything that decides on the key of one piece of evidence. */
export interface KeyQuestion {
  readonly name: ReleaseName;
  readonly namespace: NamespaceTrust;
  readonly contact: FirstContact;
  readonly release: ReleaseTrust;
  readonly rules: KeyRules;
}

type KeyVerdict =
  | {
      readonly accepted: true;
      readonly because: Acceptance;
      /** Operators hear of it. */
      readonly alarms: boolean;
    }
  | { readonly accepted: false; readonly because: KeyRefusal };

/** Milliseconds by which a publisher's clock may be ahead of the mirror's. */
const clockGrace = 86_400_000;

/**
 * Decides whether a key is acceptable for a release (docs/trust.md, rule 4).
 * The first rule that holds decides.
 */
export function judgeKey(
  question: KeyQuestion,
  evidence: Evidence,
): KeyVerdict {
  const { name, namespace, rules } = question;
  const { signedBy } = evidence;
  if (findKeyDecision(namespace.decisions, "revoked", name, signedBy))
    return refuse("revoked");
  if (findRevokedContent(question, evidence)) return refuse("revoked-content");
  if (rules.pins !== undefined)
    return signedBy !== undefined && rules.pins.has(signedBy)
      ? accept("configured")
      : refuse("not-pinned");
  if (rules.newKeys === "refuse") return refuse("not-pinned");
  return signedBy === undefined
    ? judgeUnsigned(question, evidence)
    : judgeSigner(question, evidence, signedBy);
}

/** Finds what revokes a content: also another document over an archive of it, unless that was decided on itself. */
export function findRevokedContent(
  question: Pick<KeyQuestion, "namespace" | "name" | "release">,
  { sha256sums, content }: Evidence,
): ContentDecision | undefined {
  const { namespace, name, release } = question;
  const decided = listDecided(namespace.decisions, name);
  const own = decided.find((one) => one.sha256sums === sha256sums);
  const revoked = decided.filter(({ decision }) => decision === "revoked");
  if (own !== undefined) return revoked.find((one) => one === own);
  const shared = release.evidence.filter((one) =>
    one.content.entries().some(([on, digest]) => content.get(on) === digest),
  );
  return revoked.find(({ sha256sums: digest }) =>
    shared.some((one) => one.sha256sums === digest),
  );
}

/** True for the keys that count for everything that a provider publishes; without a contact, that its namespace does. */
export function isKnownKey(
  question: {
    readonly name: { readonly type: string | null };
    readonly namespace: NamespaceTrust;
    readonly contact: FirstContact | undefined;
    readonly rules: Pick<KeyRules, "knownKey">;
  },
  fingerprint: string,
): boolean {
  const { name, namespace, contact, rules } = question;
  if (rules.knownKey !== undefined) return rules.knownKey === fingerprint;
  return (
    contact?.key === fingerprint ||
    namespace.firstKey?.fingerprint === fingerprint ||
    namespace.providerKeys.some(
      (key) => key.type === name.type && key.fingerprint === fingerprint,
    )
  );
}

function judgeSigner(
  question: KeyQuestion,
  evidence: Evidence,
  signedBy: string,
): KeyVerdict {
  const { name, namespace, contact, rules } = question;
  if (findKeyDecision(namespace.decisions, "approved", name, signedBy))
    return accept("approved");
  if (isFirstSigner(question, signedBy))
    return accept("first-key", { alarms: true });
  if (isKnownKey(question, signedBy)) return accept("known");
  if (signsPinnedDigests(question, evidence, signedBy))
    return accept("same-digests", { alarms: true });
  if (rules.knownKey === undefined) {
    if (isFromFirstContact(question, evidence))
      return accept("existed", { alarms: !contact.published.has(signedBy) });
    if (isFree(question)) return accept("first-key", { alarms: true });
  }
  return rules.newKeys === "accept"
    ? accept("new", { alarms: true })
    : refuse("unknown");
}

/**
 * Unsigned after signed is never admitted, neither for a release nor for a
 * provider's later versions. What was pinned before anything was signed stays.
 */
function judgeUnsigned(
  question: KeyQuestion,
  { exemption, content }: Evidence,
): KeyVerdict {
  const { name, contact, release, rules } = question;
  const { pinned } = release;
  if (exemption === "signatures-off") return accept("signatures-off");
  if (pinned?.signedBy !== undefined || rules.knownKey !== undefined)
    return refuse("unknown");
  if (contact.versions.has(name.version))
    return accept("unsigned", { alarms: contact.key !== undefined });
  const isPinned = pinned !== undefined && isWithin(content, pinned.content);
  return contact.key === undefined && (isPinned || isFree(question))
    ? accept("unsigned")
    : refuse("unknown");
}

/**
 * Publishers who rotate sign old releases again: the bytes are those that were
 * admitted. The key that they were admitted under has to be acceptable still and to
 * have signed each of them: in the document that was pinned, be its signature good
 * or not, or in another one that agrees with it and whose signature is good. One key
 * is no second witness of its own digests, nor of platforms that it added.
 */
function signsPinnedDigests(
  question: KeyQuestion,
  { content }: Evidence,
  signedBy: string,
): boolean {
  const { pinned, published, evidence } = question.release;
  if (pinned === undefined || pinned.signedBy === signedBy) return false;
  const witnesses = evidence.filter(
    (one) =>
      one.signedBy === pinned.signedBy &&
      agrees(pinned.content, one.content) &&
      (one.isGood || one.sha256sums === pinned.sha256sums) &&
      judgeKey(question, one).accepted,
  );
  return (
    content.size > 0 &&
    published.has(signedBy) &&
    witnesses.some(({ sha256sums }) => sha256sums === pinned.sha256sums) &&
    content
      .entries()
      .every(([platform, sha256]) =>
        witnesses.some((one) => one.content.get(platform) === sha256),
      )
  );
}

/** Another key than the one that a release was pinned under gains nothing from an old date. */
function isFromFirstContact(
  { name, contact, release: { pinned } }: KeyQuestion,
  { signedAt, signedBy }: Evidence,
): boolean {
  return (
    contact.versions.has(name.version) &&
    signedAt !== undefined &&
    signedAt.getTime() <= contact.at.getTime() + clockGrace &&
    (pinned === undefined || pinned.signedBy === signedBy)
  );
}

/** True for the release by which the key became the provider's own, which people hear of. */
function isFirstSigner(
  { name: { type, version }, namespace, rules }: KeyQuestion,
  signedBy: string,
): boolean {
  return (
    rules.knownKey === undefined &&
    namespace.providerKeys.some(
      (key) =>
        key.type === type &&
        key.version === version &&
        key.fingerprint === signedBy,
    )
  );
}

/** True while nothing is signed for the provider. */
function isFree({ name, namespace, contact }: KeyQuestion): boolean {
  return (
    contact.key === undefined &&
    !namespace.providerKeys.some(({ type }) => type === name.type)
  );
}

function accept(
  because: Acceptance,
  { alarms }: { readonly alarms: boolean } = { alarms: false },
): KeyVerdict {
  return { accepted: true, because, alarms };
}

function refuse(because: KeyRefusal): KeyVerdict {
  return { accepted: false, because };
}

/** https://www.hashicorp.com/trust/security */
const hashicorpKey = "C874011F0AB405110D02105534365D9472D7468F";
/** keys/o/opentofu of github.com/opentofu/registry; it signs OpenTofu's builds of HashiCorp's providers, too. */
const opentofuKey = "E3E6E43D84CB852EADB0051D0C0AF313E5FD9F80";

/** Primary keys of publishers whose namespaces most companies meet first (docs/trust.md, rule 3). */
const knownKeys: ReadonlyMap<string, string> = new Map([
  ["registry.terraform.io/hashicorp", hashicorpKey],
  ["registry.opentofu.org/hashicorp", opentofuKey],
  ["registry.opentofu.org/opentofu", opentofuKey],
]);

/** The key that counts for a namespace from the start, whatever its registry offers at first contact. */
export function findKnownKey(
  address: Record<"hostname" | "namespace", string>,
): string | undefined {
  return knownKeys.get(`${address.hostname}/${address.namespace}`);
}
