import {
  formatTrustScope,
  parseTrustScope,
  quoteDecision,
  type TrustScope,
} from "../../address/spec.ts";
import { failure } from "../../errors/index.ts";
import { listUnder } from "../../mirror/releases/records.ts";
import { findExclusion } from "../../mirror/trust/admission-rules.ts";
import {
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
  carryOut,
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
  await carryOut(parts, scope, deed, key, {
    provider: formatTrustScope({ ...scope, version: null }),
    ...{ version: version ?? undefined, fingerprint },
  });
  const was = earlier === undefined ? unsaid : quoteDecision(scope, earlier);
  parts.stdout(
    `${fingerprint} is ${state} for ${subject}${effect}.\nBefore, it was ${was}.\n`,
  );
  const others = tellOthers(parts, before, asked);
  return deed === "approve" && others > 0 ? touchedNothing : 0;
}

/** Says what a decision does to releases here. Throws trust-decision for an approval that touches nothing. */
async function findEffect(
  { trust, records }: TrustParts,
  { decisions }: NamespaceTrust,
  { scope, fingerprint, deed, isKnown, earlier }: Asked,
): Promise<string> {
  const { type } = scope;
  const lists =
    type === null
      ? await trust.listCandidates(scope)
      : [{ type, ...(await trust.readCandidates({ ...scope, type })) }];
  const candidates = lists.flatMap(({ list, ...of }) =>
    list.map((one) => ({ ...one, type: of.type })),
  );
  const offered = candidates.filter(
    (one) => one.fingerprint === fingerprint && covers(scope, one),
  );
  const isOffered = async () =>
    offered.length > 0 ||
    // The list of candidates is bounded, and can be lost.
    (
      await listUnder(records, scope, fingerprint, "offered", (one) =>
        covers(scope, one),
      )
    ).length > 0;
  if (deed === "revoke") {
    // Thousands may be candidates, most of which were never admitted.
    const names = new Set(candidates.map(nameRelease));
    const signed = await listUnder(
      ...([records, scope, fingerprint, "admitted"] as const),
      (one) => covers(scope, one) && !names.has(nameRelease(one)),
    );
    const approved = offered.filter(
      (one) =>
        findKeyDecision(decisions, "approved", one, one.fingerprint) !==
          undefined || listApproved(decisions, one).includes(one.sha256sums),
    );
    const served = new Set([...signed, ...approved].map(nameRelease));
    if (served.size > 0) {
      const named = [...served].slice(0, mostNamed).join(", ");
      const more = served.size - mostNamed;
      const rest = more > 0 ? ` and ${more} more` : "";
      return `: ${named}${rest} and later releases under it are refused from now on`;
    }
    return isKnown || earlier !== undefined || (await isOffered())
      ? ": releases under it are refused"
      : " in advance: nothing here is under it, and what comes under it will be refused";
  }
  if (isKnown || (await isOffered())) return "";
  throw failure(
    "trust-decision",
    fingerprint,
    `is not approved, since no release or candidate of ${formatTrustScope(scope)} here is under it`,
    earlier === undefined
      ? "check the address and the fingerprint, or approve it once it has signed a release"
      : `run "provender trust forget --key ${fingerprint} --for ${formatTrustScope(scope)}", which takes back that it was ${quoteDecision(scope, earlier)}`,
  );
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

function nameRelease({ type, version }: ReleaseName): string {
  return `${type} ${version}`;
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
