import {
  formatTrustScope,
  parseTrustScope,
  quoteDecision,
  type TrustScope,
} from "../../address/specs/trust-scope.ts";
import { failure } from "../../errors/index.ts";
import { listUnder } from "../../mirror/releases/records.ts";
import { findExclusion } from "../../mirror/trust/admission-rules.ts";
import type { Candidate } from "../../trust/candidates.ts";
import {
  decide,
  forget,
  findKeyDecision,
  isSame,
  type KeyDecision,
  type KeyScope,
  listApproved,
  type ReleaseName,
} from "../../trust/decisions.ts";
import { findKnownKey, isKnownKey } from "../../trust/key-verdict.ts";
import { parseFingerprint } from "../../verification/fingerprints.ts";
import {
  decidedNow,
  recordDecision,
  stateAfter,
  touchedNothing,
  type Deed,
  type TrustParts,
} from "./decision.ts";
import type { NamespaceTrust } from "../../trust/state.ts";

/** Releases that a sentence names. */
const mostNamed = 5;

/** A decision on a key that is about to be made or taken back. */
interface Asked {
  readonly scope: TrustScope;
  readonly fingerprint: string;
  readonly deed: Deed;
  /** Without any decision. */
  readonly isKnown: boolean;
  readonly earlier: KeyDecision | undefined;
}

/**
 * `provender trust approve|revoke|forget --key FINGERPRINT`: the key is acceptable, or refused, for a namespace, a
 * provider or one release from now on, or as if nothing had been decided. An approval that touches nothing is not made
 * (docs/trust.md, rule 5). Returns the exit status.
 */
export async function decideKey(
  parts: TrustParts,
  text: string,
  fingerprintText: string,
  deed: Deed,
): Promise<number> {
  const scope = parseTrustScope(text, parts.hosts);
  const fingerprint = parseFingerprint(fingerprintText);
  const before = await parts.trust.read(scope);
  const { type, version } = scope;
  const key = { fingerprint, type, version };
  const earlier = before.decisions.keys.find((one) => isSame(one, key));
  const decision = stateAfter[deed];
  const isKnown = await isKnownHere(parts, before, scope, fingerprint);
  const asked = { scope, fingerprint, deed, isKnown, earlier };
  const unsaid = !isKnown
    ? "not decided on"
    : findKnownKey(scope) === fingerprint
      ? "known to this program"
      : "known by first contact";
  const state = decision ?? unsaid;
  const subject = formatTrustScope(scope);
  if (earlier?.decision === decision) {
    const already = decision === undefined ? "" : " already";
    parts.stdout(`${fingerprint} is ${state}${already} for ${subject}.\n`);
    tellOthers(parts, before, asked);
    return touchedNothing;
  }
  if (deed === "approve") expectEffect(parts, before, asked);
  const effect =
    deed === "forget" ? "" : await findEffect(parts, before, asked);
  await parts.trust.decide(
    scope,
    (decisions) =>
      decision === undefined
        ? forget(decisions, key)
        : decide(decisions, { ...key, decision, ...decidedNow(parts) }),
    () =>
      recordDecision(parts, decision ?? "forgotten", {
        provider: formatTrustScope({ ...scope, version: null }),
        ...{ version: version ?? undefined, fingerprint },
      }),
  );
  const was = earlier === undefined ? unsaid : quoteDecision(scope, earlier);
  parts.stdout(
    `${fingerprint} is ${state} for ${subject}${effect}.\nBefore, it was ${was}.\n`,
  );
  const others = tellOthers(parts, before, asked);
  return deed === "approve" && others > 0 ? touchedNothing : 0;
}

/** Says what a decision does to releases here. Throws trust-decision for an approval that touches nothing. */
async function findEffect(
  parts: TrustParts,
  before: NamespaceTrust,
  asked: Asked,
): Promise<string> {
  const { scope, fingerprint, deed, isKnown, earlier } = asked;
  const { offered, isCandidate } = await findCandidates(parts, asked);
  const served =
    deed === "revoke"
      ? await findServed(parts, before, asked, { offered, isCandidate })
      : [];
  const isFelt =
    served.length + offered.length > 0 ||
    isKnown ||
    (deed === "revoke" && earlier !== undefined) ||
    // The list of candidates is bounded, and can be lost.
    (
      await listUnder(parts.records, scope, fingerprint, "offered", (one) =>
        covers(scope, one),
      )
    ).length > 0;
  if (deed === "revoke")
    return isFelt
      ? describeRefused(served)
      : " in advance: nothing here is under it, and what comes under it will be refused";
  if (!isFelt)
    throw failure(
      "trust-decision",
      fingerprint,
      `is not approved, since no release or candidate of ${formatTrustScope(scope)} here is under it`,
      earlier === undefined
        ? "check the address and the fingerprint, or approve it once it has signed a release"
        : `run "provender trust forget --key ${fingerprint} --for ${formatTrustScope(scope)}", which takes back that it was ${quoteDecision(scope, earlier)}`,
    );
  return "";
}

/** A wider revocation, or the configuration, would leave the approval without effect. */
function expectEffect(
  { rules }: TrustParts,
  { decisions }: NamespaceTrust,
  { scope, fingerprint }: Asked,
): void {
  const wider = decisions.keys.find(
    (key) =>
      key.decision === "revoked" &&
      key.fingerprint === fingerprint &&
      covers(key, scope) &&
      !isSame(key, { ...scope, fingerprint }),
  );
  if (wider !== undefined)
    throw failure(
      "trust-decision",
      fingerprint,
      `cannot be approved because it was ${quoteDecision(scope, wider)}`,
      "ask who decided that",
    );
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
  { decisions }: NamespaceTrust,
  asked: Asked,
  { offered, isCandidate }: Candidates,
): Promise<readonly string[]> {
  // Thousands may be candidates, most of which were never admitted.
  const { scope, fingerprint } = asked;
  const signed = await listUnder(
    ...([parts.records, scope, fingerprint, "admitted"] as const),
    (one) => covers(scope, one) && !isCandidate(one),
  );
  const approved = offered.filter(
    (one) =>
      findKeyDecision(decisions, "approved", one, one.fingerprint) !==
        undefined || listApproved(decisions, one).includes(one.sha256sums),
  );
  return [...new Set([...signed, ...approved].map(nameRelease))];
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

/** True for a key that counts without a decision: by first contact, or because the program knows it. */
export async function isKnownHere(
  { trust }: Pick<TrustParts, "trust">,
  namespace: NamespaceTrust,
  of: Omit<TrustScope, "version">,
  fingerprint: string,
): Promise<boolean> {
  const { type } = of;
  const contact =
    type === null ? undefined : await (await trust.open(of)).findContact(type);
  const rules = { knownKey: findKnownKey(of) };
  return isKnownKey({ name: of, namespace, contact, rules }, fingerprint);
}

/** Names what else is decided on the key within the scope or around it; returns how many revocations go before this. */
function tellOthers(
  { stdout }: TrustParts,
  { decisions }: NamespaceTrust,
  { scope, fingerprint, deed }: Asked,
): number {
  if (deed === "revoke") return 0;
  const key = { ...scope, fingerprint };
  const others = decisions.keys.filter(
    (one) =>
      one.fingerprint === fingerprint &&
      (covers(one, scope) || covers(scope, one)) &&
      !isSame(one, key) &&
      (deed === "forget" || one.decision === "revoked"),
  );
  for (const other of others)
    stdout(`It stays ${quoteDecision(scope, other)}.\n`);
  return others.length;
}

/** True when everything within `inner` is within `outer`. */
function covers(outer: KeyScope, inner: KeyScope): boolean {
  return (
    (outer.type === null || outer.type === inner.type) &&
    (outer.version === null || outer.version === inner.version)
  );
}
