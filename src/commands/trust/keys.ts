import {
  formatTrustScope,
  parseTrustScope,
  type TrustScope,
} from "../../address/specs/trust-scope.ts";
import { failure, formatKeyDecision } from "../../errors/index.ts";
import { isUsed, listSigned } from "../../mirror/releases/signed-releases.ts";
import { findExclusion } from "../../mirror/trust/admission-rules.ts";
import type {
  Namespace,
  NamespaceBody,
} from "../../mirror/trust/trust-records.ts";
import type { Candidate } from "../../trust/candidates.ts";
import {
  decideKey as decide,
  type Decisions,
  isKeyApproved,
  type KeyDecision,
  type KeyScope,
  listApproved,
  type ReleaseName,
} from "../../trust/decisions.ts";
import { parseFingerprint } from "../../verification/fingerprints.ts";
import {
  decidedNow,
  recordDecision,
  touchedNothing,
  type TrustParts,
} from "./decision.ts";

/** Releases that a sentence names. */
const mostNamed = 5;

/** A decision on a key that is about to be made. */
interface Asked {
  readonly scope: TrustScope;
  readonly fingerprint: string;
  readonly decision: KeyDecision["decision"];
}

/**
 * `provender trust approve|revoke --key FINGERPRINT`: the key is acceptable, or refused, for a namespace, a provider
 * or one release from now on. One that touches nothing is not made, unless it revokes in advance (docs/trust.md, rule
 * 5). Returns the exit status.
 */
export async function decideKey(
  parts: TrustParts,
  text: string,
  fingerprintText: string,
  decision: KeyDecision["decision"],
): Promise<number> {
  const scope = parseTrustScope(text, parts.hosts);
  const fingerprint = parseFingerprint(fingerprintText);
  const asked = { scope, fingerprint, decision };
  const before = await parts.trust.read(scope);
  const subject = formatTrustScope(scope);
  const earlier = findSame(before, asked);
  if (earlier?.decision === decision) {
    parts.stdout(`${fingerprint} is ${decision} already for ${subject}.\n`);
    return touchedNothing;
  }
  if (decision === "approved") expectEffect(parts, before, asked);
  const { offered, isCandidate } = await findCandidates(parts, asked);
  const served =
    decision === "revoked"
      ? await findServed(parts, before, asked, { offered, isCandidate })
      : [];
  const isFelt =
    served.length + offered.length > 0 ||
    isKnown(before, asked) ||
    earlier !== undefined ||
    (await findSigned(parts, asked)).length > 0 ||
    // The list of candidates is bounded, and can be lost.
    (await isUsed(
      ...([
        parts.records,
        scope,
        scope.type ?? undefined,
        fingerprint,
      ] as const),
      (one) => covers(scope, one),
    ));
  if (!isFelt && decision === "approved")
    throw failure(
      "trust-decision",
      fingerprint,
      `is not approved, since no release or candidate of ${subject} here is under it`,
      "check the address and the fingerprint, or approve it once it has signed a release",
    );
  const { type, version } = scope;
  const key = { fingerprint, decision, type, version, ...decidedNow(parts) };
  await parts.trust.decide(scope, (decisions) => decide(decisions, key));
  await recordDecision(parts, decision, {
    provider: formatTrustScope({ ...scope, version: null }),
    ...{ version: version ?? undefined, fingerprint },
  });
  const effect =
    decision === "approved"
      ? ""
      : isFelt
        ? describeRefused(served)
        : " in advance: nothing here is under it, and what comes under it will be refused";
  parts.stdout(`${fingerprint} is ${decision} for ${subject}${effect}.\n`);
  return warnOfOthers(parts, before, asked);
}

/** A wider revocation, or the configuration, would leave the approval without effect. */
function expectEffect(
  { rules }: TrustParts,
  { decisions }: NamespaceBody,
  { scope, fingerprint }: Asked,
): void {
  const wider = decisions.keys.find(
    (key) =>
      key.decision === "revoked" &&
      key.fingerprint === fingerprint &&
      covers(key, scope) &&
      !isSameScope(key, scope),
  );
  if (wider !== undefined) {
    const where = nameDecided(scope, wider);
    throw failure(
      "trust-decision",
      fingerprint,
      `cannot be approved because it is revoked for ${where}`,
      `if it is good again, run "${formatKeyDecision("approve", fingerprint, where)}" first`,
    );
  }
  const { type } = scope;
  const setting =
    type === null
      ? undefined
      : findExclusion(rules, { ...scope, type }, fingerprint);
  if (setting !== undefined)
    throw failure(
      "trust-decision",
      fingerprint,
      `cannot be approved because "${setting}" excludes it for ${formatTrustScope(scope)}`,
      `change "${setting}" in the configuration first`,
    );
}

interface Candidates {
  /** Those under the key. */
  readonly offered: readonly Offered[];
  readonly isCandidate: (one: ReleaseName) => boolean;
}

/** Finds the candidates of the scope. */
async function findCandidates(
  { trust }: TrustParts,
  { scope, fingerprint }: Asked,
): Promise<Candidates> {
  const { type } = scope;
  const lists =
    type === null
      ? await trust.listCandidates(scope)
      : [{ type, ...(await trust.readCandidates({ ...scope, type })) }];
  const all = lists.flatMap(({ list, ...of }) =>
    list.map((one) => ({ ...one, type: of.type })),
  );
  const offered = all.filter(
    (one) => one.fingerprint === fingerprint && covers(scope, one),
  );
  const names = new Set(all.map(nameRelease));
  return { offered, isCandidate: (one) => names.has(nameRelease(one)) };
}

/** Names the releases that were admitted under the key, and its candidates that were approved. */
async function findServed(
  parts: TrustParts,
  { decisions }: NamespaceBody,
  asked: Asked,
  { offered, isCandidate }: Candidates,
): Promise<readonly string[]> {
  // Thousands may be candidates, most of which were never admitted.
  const signed = await findSigned(parts, asked, (one) => !isCandidate(one));
  const approved = offered.filter(
    (one) =>
      isKeyApproved(decisions, one, one.fingerprint) ||
      listApproved(decisions, one).includes(one.sha256sums),
  );
  return [...new Set([...signed, ...approved].map(nameRelease))];
}

/** Reads no release for a key that none was admitted under. */
async function findSigned(
  { records, trust }: TrustParts,
  { scope, fingerprint }: Asked,
  isMeant: (one: ReleaseName) => boolean = () => true,
): Promise<readonly ReleaseName[]> {
  const entry = await trust.open(scope);
  if (!(await entry.isSigner(fingerprint))) return [];
  return listSigned(
    ...([records, scope, scope.type ?? undefined, fingerprint] as const),
    (one) => covers(scope, one) && isMeant(one),
  );
}

type Offered = Candidate & ReleaseName;

function nameRelease({ type, version }: ReleaseName): string {
  return `${type} ${version}`;
}

/** Names what is refused from now on. */
function describeRefused(served: readonly string[]): string {
  if (served.length === 0) return ": releases under it are refused";
  const named = served.slice(0, mostNamed).join(", ");
  const more = served.length - mostNamed;
  const rest = more > 0 ? ` and ${more} more` : "";
  return `: ${named}${rest} and later releases under it are refused from now on`;
}

/** True for a key that counts by first contact. */
function isKnown(
  { firstKey, providerKeys }: NamespaceBody,
  { scope, fingerprint }: Asked,
): boolean {
  return (
    firstKey?.fingerprint === fingerprint ||
    providerKeys.some(
      (key) =>
        key.fingerprint === fingerprint &&
        (scope.type === null || scope.type === key.type),
    )
  );
}

/** An approval does not undo revocations for parts of its scope: names them. */
function warnOfOthers(
  { stderr }: TrustParts,
  { decisions }: NamespaceBody,
  { scope, fingerprint, decision }: Asked,
): number {
  if (decision === "revoked") return 0;
  const others = decisions.keys.filter(
    (key) =>
      key.decision === "revoked" &&
      key.fingerprint === fingerprint &&
      meets(key, scope) &&
      !isSameScope(key, scope),
  );
  for (const other of others) {
    const where = nameDecided(scope, other);
    stderr(
      `It stays revoked for ${where}: run "${formatKeyDecision("approve", fingerprint, where)}" too if it is good there.\n`,
    );
  }
  return others.length > 0 ? touchedNothing : 0;
}

function findSame(
  { decisions }: NamespaceBody,
  { scope, fingerprint }: Asked,
): KeyDecision | undefined {
  return decisions.keys.find(
    (key) => key.fingerprint === fingerprint && isSameScope(key, scope),
  );
}

/** True when everything within `inner` is within `outer`. */
function covers(outer: KeyScope, inner: KeyScope): boolean {
  return (
    (outer.type === null || outer.type === inner.type) &&
    (outer.version === null || outer.version === inner.version)
  );
}

/** True when something is within both. */
function meets(one: KeyScope, other: KeyScope): boolean {
  return covers(one, other) || covers(other, one);
}

function isSameScope(one: KeyScope, other: KeyScope): boolean {
  return one.type === other.type && one.version === other.version;
}

/** Finds the revocation that refuses a key for a release. */
export function findRevocation(
  { keys }: Decisions,
  release: ReleaseName,
  fingerprint: string,
): KeyDecision | undefined {
  return keys.find(
    (key) =>
      key.decision === "revoked" &&
      key.fingerprint === fingerprint &&
      covers(key, release),
  );
}

/** Writes the scope of a decision as commands take it. */
export function nameDecided(
  { hostname, namespace }: Namespace,
  { type, version }: KeyScope,
): string {
  return formatTrustScope({ hostname, namespace, type, version });
}
