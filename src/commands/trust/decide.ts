import { formatProviderAddress } from "../../address/provider-address.ts";
import {
  formatTrustScope,
  parseReleaseSpec,
  parseTrustScope,
  quoteDecision,
  type TrustScope,
} from "../../address/spec.ts";
import { findOperator } from "../../config/environment.ts";
import {
  failure,
  formatApproval,
  isModuleType,
  isOriginFailure,
  nameContent,
  ProvenderError,
} from "../../errors/index.ts";
import { listOffered } from "../../mirror/modules/records.ts";
import { justNow } from "../../mirror/providers/provider-mirror.ts";
import { listRecorded, listUnder } from "../../mirror/releases/records.ts";
import {
  formatRelease,
  type ReleaseAddress,
} from "../../mirror/releases/release.ts";
import { denied, findExclusion } from "../../mirror/trust/admission-rules.ts";
import type { AuditEntry } from "../../telemetry/audit-entry.ts";
import { needsDecision, type Candidate } from "../../trust/candidates.ts";
import {
  decide as decideOn,
  findKeyDecision,
  forget as forgetOn,
  isSame,
  type KeyDecision,
  type KeyScope,
  listApproved,
  listDecided,
  type ReleaseName,
} from "../../trust/decisions.ts";
import { findKnownKey, isKnownKey } from "../../trust/key-verdict.ts";
import { decideByRules } from "../../trust/policy.ts";
import { isCandidate } from "../../trust/standing.ts";
import type { NamespaceTrust } from "../../trust/state.ts";
import { parseFingerprint } from "../../verification/fingerprints.ts";
import type { OpenMirror } from "../../wiring/open-mirror.ts";
import { type Flags, hostsOf, onStore } from "../command.ts";
import { stdout } from "../output/report.ts";

interface DecisionFlags extends Flags {
  readonly spec?: string;
  readonly digest?: string;
  readonly key?: string;
  readonly for?: string;
  readonly because?: string;
}

/** What decisions are made on. */
interface Mirror extends Pick<OpenMirror, "notebook" | "records" | "trust"> {
  readonly admission: Pick<OpenMirror["admission"], "rules">;
  readonly catalog: {
    readonly releases: Pick<OpenMirror["catalog"]["releases"], "peek">;
  };
  readonly providers: Pick<OpenMirror["providers"], "findRelease">;
}

/** What an operator does with a decision: makes one of two, or takes it back, so that nothing is decided. */
const deeds = {
  approve: {
    state: "approved",
    which: "need a decision",
    listed: `run "provender trust list", which names what needs a decision`,
    effect: "clients get exactly this content, and no key becomes known",
  },
  revoke: {
    state: "revoked",
    which: "are not revoked yet",
    listed: `run "provender trust list --all", which names what was decided`,
    effect: "clients do not get this content, whoever signs it",
  },
  forget: {
    state: undefined,
    which: "are decided on",
    listed: `run "provender trust list --all", which names what was decided`,
    effect: "clients get what they would get without that decision",
  },
} as const;
export type Deed = keyof typeof deeds;

/** What is printed, and the exit status: 1 for a decision that changed nothing, or not all that it names. */
interface Outcome {
  readonly text: string;
  readonly status: 0 | 1;
}

/** Makes the command that decides on a content of a release, or with `--key` on a signing key. */
function decide(deed: Deed) {
  return (flags: DecisionFlags): Promise<number> =>
    onStore(flags, async (mirror) => {
      const { spec, digest, key, for: scope, because } = flags;
      const hosts = hostsOf(mirror.configuration);
      let done: Promise<Outcome>;
      if (spec !== undefined && !key && !scope) {
        const release = parseReleaseSpec(spec, hosts);
        done = decideContent(mirror, release, digest, deed, because);
      } else if (spec === undefined && key && scope) {
        const named = parseTrustScope(scope, hosts);
        const fingerprint = parseFingerprint(key);
        done = decideKey(mirror, named, fingerprint, deed, because);
      } else
        throw failure(
          "arguments",
          `trust ${deed}`,
          "a decision is about one content or about one key",
          "name a release, such as acme/net@1.2.0, or a key with --key FINGERPRINT --for SCOPE",
        );
      const { text, status } = await done;
      stdout(text);
      return status;
    });
}

export const approve = decide("approve");
export const revoke = decide("revoke");
export const forget = decide("forget");

/** A content of a release that can be decided on. */
interface NamedContent {
  /** SHA-256 of its SHA256SUMS; a module's archive or commit. */
  readonly sha256sums: string;
  /** Undefined for an unsigned release, or when that is not known. */
  readonly fingerprint: string | undefined;
}

/**
 * Clients get exactly one content of the release, or do not get it whoever signs it, or what they would get without that
 * decision. No key becomes known by it (docs/trust.md, rule 5).
 */
export async function decideContent(
  mirror: Mirror,
  release: ReleaseAddress,
  prefix: string | undefined,
  deed: Deed,
  why?: string,
): Promise<Outcome> {
  const { provider, version } = release;
  const subject = formatRelease(release);
  const isModule = isModuleType(provider.type);
  if (deed === "revoke" && isModule)
    throw failure(
      "trust-decision",
      subject,
      "is of a module, whose contents are approved or not",
      `deny the version in "policy.rules"`,
    );
  const known = await readContents(mirror, release);
  const { name, decisions, decided } = known;
  const { sha256sums, fingerprint } = await choose(mirror, known, prefix, deed);
  const digest = nameContent(release, sha256sums);
  const content = fingerprint
    ? `${digest} under the key ${fingerprint}`
    : digest;
  const earlier = decided.find((one) => one.sha256sums === sha256sums);
  const state = deeds[deed].state ?? "not decided on";
  if (earlier?.decision === deeds[deed].state)
    return {
      text: `${subject} is ${state} already with ${content}.\n`,
      status: 1,
    };
  if (deed === "approve") {
    const { rules } = mirror.admission;
    expectEffect(
      subject,
      fingerprint === undefined
        ? "unsigned releases"
        : `its key ${fingerprint}`,
      provider,
      findKeyDecision(decisions, "revoked", name, fingerprint),
      findExclusion(rules, provider, fingerprint),
    );
    const rule = decideByRules(rules.policy, provider, version);
    if (rule.action === "deny" && rules.mode !== "report")
      throw denied(provider, version, rule);
  }
  const place = formatProviderAddress(provider);
  const about = { ...name, sha256sums };
  await carryOut(mirror, provider, deed, about, {
    ...(isModule ? { module: place } : { provider: place }),
    ...{ version, fingerprint, detail: digest, because: why },
  });
  const was = earlier ? quoteDecision(provider, earlier) : "not decided on";
  const text = `${subject} is ${state} with ${content}: ${deeds[deed].effect}.\nBefore, it was ${was}.\n`;
  return { text, status: 0 };
}

type Contents = Awaited<ReturnType<typeof readContents>>;

/** What is known of a release: its contents by digest, candidates first, and what is decided on them. */
async function readContents(
  { trust, records }: Mirror,
  release: ReleaseAddress,
) {
  const { provider, version } = release;
  const name: ReleaseName = { type: provider.type, version };
  const { decisions } = await trust.read(provider);
  const list = await trust.readCandidates(provider);
  const recorded = await (isModuleType(provider.type)
    ? listOffered(records, release)
    : listRecorded(records, release));
  const decided = listDecided(decisions, name);
  const known: readonly (NamedContent & {
    /** Undefined unless it is a candidate. */
    readonly reason: Candidate["reason"] | undefined;
  })[] = [
    ...list.filter((one) => one.version === version),
    ...recorded.filter(({ reason }) => reason !== undefined),
    ...recorded,
    ...decided.map(({ sha256sums }) => ({
      ...{ sha256sums, fingerprint: undefined, reason: undefined },
    })),
  ];
  const firsts = Map.groupBy(known, ({ sha256sums }) => sha256sums).values();
  const contents = [...firsts].flatMap(([first]) => first ?? []);
  return { release, name, decisions, decided, contents };
}

/** Finds the content that is meant, or the only one that can be. Throws trust-decision with the command for each, since not exactly one was chosen. */
async function choose(
  mirror: Mirror,
  known: Contents,
  prefix: string | undefined,
  deed: Deed,
): Promise<NamedContent> {
  const { release, name, contents } = known;
  const isModule = isModuleType(name.type);
  const digits = prefix?.toLowerCase() ?? "";
  if (prefix !== undefined && !/^[0-9a-f]{8,64}$/.test(digits))
    throw failure(
      "malformed-address",
      "digest of a content",
      prefix,
      "8 to 64 hexadecimal digits",
    );
  const match = (all: readonly NamedContent[]) =>
    all.filter(({ sha256sums }) => sha256sums.startsWith(digits));
  const meant = listMeant(known, deed);
  const found = prefix === undefined ? meant : match(contents);
  const isNew = found.length === 0 && deed === "approve" && !isModule;
  const matching = isNew ? match(await lookUp(mirror, release)) : found;
  const [only] = matching;
  if (only !== undefined && matching.length === 1) return only;
  const choices =
    matching.length > 0 || prefix === undefined ? matching : meant;
  const commands = choices.map(({ sha256sums, fingerprint = "none" }) => {
    const key = isModule ? "" : `, key ${fingerprint}`;
    const command = formatApproval(release, sha256sums);
    return `\n  ${nameContent(release, sha256sums)}${key}: ${command.replace(" approve ", ` ${deed} `)}`;
  });
  const digests = isModule ? "archive or commit" : "SHA256SUMS";
  const which =
    prefix === undefined
      ? `that ${deeds[deed].which}`
      : `whose ${digests} begins with ${prefix}`;
  throw failure(
    "trust-decision",
    formatRelease(release),
    `has ${matching.length || "no"} contents ${which}`,
    commands.length === 0
      ? deeds[deed].listed
      : `run one of these:${commands.join("")}`,
  );
}

/** Lists the contents that a command without a digest may mean. */
function listMeant(
  { decisions, name, decided, contents }: Contents,
  deed: Deed,
): readonly NamedContent[] {
  const stateOf = ({ sha256sums }: NamedContent) =>
    decided.find((one) => one.sha256sums === sha256sums)?.decision;
  if (deed === "forget") return contents.filter(stateOf);
  const meant = contents.filter(({ reason, ...one }) =>
    deed === "revoke"
      ? stateOf(one) !== "revoked"
      : reason !== undefined &&
        needsDecision(decisions, name, { ...one, reason }),
  );
  return meant.length > 0
    ? meant
    : contents.filter((one) => stateOf(one) === deeds[deed].state);
}

/** Asks the origin for a release of a provider: good contents that were not admitted, be it for their age alone. */
async function lookUp(
  { providers, catalog }: Mirror,
  release: ReleaseAddress,
): Promise<readonly NamedContent[]> {
  const asked = { maxAge: justNow, absentFor: justNow };
  await providers.findRelease(release, asked).catch((error: unknown) => {
    // That it is refused is what the operator decides on.
    const isRefused = error instanceof ProvenderError;
    if (!isRefused || isOriginFailure(error)) throw error;
  });
  const { evidence = [] } = (await catalog.releases.peek(release))?.trust ?? {};
  return evidence
    .filter(
      ({ isGood, noted }) =>
        isGood && (noted === undefined || isCandidate(noted)),
    )
    .map(({ sha256sums, signedBy: fingerprint }) => ({
      ...{ sha256sums, fingerprint },
    }));
}

/** Releases that a sentence names. */
const mostNamed = 5;

/**
 * The key is acceptable, or refused, for a namespace, a provider or one release from now on, or as if nothing had been
 * decided. An approval that touches nothing is not made (docs/trust.md, rule 5).
 */
export async function decideKey(
  mirror: Mirror,
  scope: TrustScope,
  fingerprint: string,
  deed: Deed,
  why?: string,
): Promise<Outcome> {
  const { type, version } = scope;
  const key = { fingerprint, type, version };
  const subject = formatTrustScope(scope);
  const entry = await mirror.trust.open(scope);
  const namespace = entry.trust;
  const ofKey = namespace.decisions.keys.filter(
    (one) => one.fingerprint === fingerprint,
  );
  const earlier = ofKey.find((one) => isSame(one, key));
  const knownKey = findKnownKey(scope);
  const contact = type === null ? undefined : await entry.findContact(type);
  const isKnown = isKnownKey(
    { name: scope, namespace, contact, rules: { knownKey } },
    fingerprint,
  );
  let unsaid = "not decided on";
  if (isKnown)
    unsaid = knownKey ? "known to this program" : "known by first contact";
  const state = deeds[deed].state ?? unsaid;
  // What else is decided on it, within the scope or around it: revocations go before an approval.
  const others = ofKey.filter(
    (one) =>
      deed !== "revoke" &&
      (deed === "forget" || one.decision === "revoked") &&
      (covers(one, scope) || covers(scope, one)) &&
      !isSame(one, key),
  );
  const stay = others
    .map((one) => `It stays ${quoteDecision(scope, one)}.\n`)
    .join("");
  if (earlier?.decision === deeds[deed].state) {
    const already = deed === "forget" ? "" : " already";
    const text = `${fingerprint} is ${state}${already} for ${subject}.\n${stay}`;
    return { text, status: 1 };
  }
  if (deed === "approve") {
    const { rules } = mirror.admission;
    expectEffect(
      fingerprint,
      "it",
      scope,
      others.find((one) => covers(one, scope)),
      type ? findExclusion(rules, { ...scope, type }, fingerprint) : undefined,
    );
  }
  let effect = "";
  if (deed !== "forget") {
    const touched = await findTouched(mirror, namespace, scope, fingerprint);
    const isHere = touched.isHere || isKnown;
    if (deed === "revoke")
      effect = describeRevocation(touched.refused, isHere || !!earlier);
    else if (!isHere)
      throw failure(
        "trust-decision",
        fingerprint,
        `is not approved, since no release or candidate of ${subject} here is under it`,
        earlier === undefined
          ? "check the address and the fingerprint, or approve it once it has signed a release"
          : `run "provender trust forget --key ${fingerprint} --for ${subject}", which takes back that it was ${quoteDecision(scope, earlier)}`,
      );
  }
  await carryOut(mirror, scope, deed, key, {
    provider: formatTrustScope({ ...scope, version: null }),
    ...{ version: version ?? undefined, fingerprint, because: why },
  });
  const was = earlier === undefined ? unsaid : quoteDecision(scope, earlier);
  return {
    text: `${fingerprint} is ${state} for ${subject}${effect}.\nBefore, it was ${was}.\n${stay}`,
    status: deed === "approve" && others.length > 0 ? 1 : 0,
  };
}

function describeRevocation(refused: readonly string[], isHere: boolean) {
  if (refused.length === 0)
    return isHere
      ? ": releases under it are refused"
      : " in advance: nothing here is under it, and what comes under it will be refused";
  const more = refused.length - mostNamed;
  const rest = more > 0 ? ` and ${more} more` : "";
  return `: ${refused.slice(0, mostNamed).join(", ")}${rest} and later releases under it are refused from now on`;
}

/** Whether anything here is under a key, and which releases that clients get now a revocation refuses. */
async function findTouched(
  { trust, records }: Mirror,
  { decisions }: NamespaceTrust,
  scope: TrustScope,
  fingerprint: string,
) {
  const { type } = scope;
  // What is damaged of one provider stops no decision on another.
  const all =
    type === null
      ? await trust.listCandidates(scope)
      : (await trust.readCandidates({ ...scope, type })).map((one) => ({
          ...{ ...one, type },
        }));
  const candidates = all.filter(
    (one) => one.fingerprint === fingerprint && covers(scope, one),
  );
  const signed = await listUnder(records, scope, fingerprint);
  const refused = [
    ...signed.filter(({ isPinned }) => isPinned),
    ...candidates.filter(
      (one) =>
        findKeyDecision(decisions, "approved", one, fingerprint) ??
        listApproved(decisions, one).includes(one.sha256sums),
    ),
  ].map((one) => `${one.type} ${one.version}`);
  return {
    refused: [...new Set(refused)],
    // The list of candidates is bounded, and can be lost.
    isHere: candidates.length > 0 || signed.length > 0,
  };
}

/** An approval that would serve nothing is not made: a revocation, which is quoted, or the configuration goes before it. */
function expectEffect(
  subject: string,
  key: string,
  namespace: Pick<TrustScope, "hostname" | "namespace">,
  revocation: KeyDecision | undefined,
  setting: string | undefined,
): void {
  const refuse = (why: string, remedy: string) =>
    failure(
      "trust-decision",
      subject,
      `cannot be approved because ${why}`,
      remedy,
    );
  if (revocation !== undefined) {
    const quoted = quoteDecision(namespace, revocation);
    throw refuse(`${key} was ${quoted}`, "ask who decided that");
  }
  if (setting !== undefined)
    throw refuse(
      `"${setting}" excludes ${key}`,
      `change "${setting}" in the configuration first`,
    );
}

/** True when everything within `inner` is within `outer`. */
function covers(outer: KeyScope, inner: KeyScope): boolean {
  return (
    (outer.type === null || outer.type === inner.type) &&
    (outer.version === null || outer.version === inner.version)
  );
}

/** Makes the decision, or takes it back, and writes it into the audit log with these facts, in one transaction. */
async function carryOut(
  { trust, notebook: { audit, clock } }: Mirror,
  namespace: Pick<TrustScope, "hostname" | "namespace">,
  deed: Deed,
  subject: Parameters<typeof forgetOn>[1],
  facts: Partial<AuditEntry>,
): Promise<void> {
  const decision = deeds[deed].state;
  const by = findOperator();
  const why = facts.because;
  const decided = { at: clock.now().toISOString(), by, why };
  await trust.decide(
    namespace,
    (decisions) =>
      decision === undefined
        ? forgetOn(decisions, subject)
        : decideOn(decisions, { ...subject, decision, ...decided }),
    () =>
      audit.record(
        {
          event: decision ?? "forgotten",
          verdict: decision === "revoked" ? "refused" : "accepted",
          ...{ ...facts, operator: by },
        },
        { durable: true },
      ),
  );
}
