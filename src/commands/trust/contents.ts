import { formatProviderAddress } from "../../address/provider-address.ts";
import { parseReleaseSpec, quoteDecision } from "../../address/spec.ts";
import {
  failure,
  formatApproval,
  isModuleType,
  nameContent,
} from "../../errors/index.ts";
import { formatRelease } from "../../mirror/releases/release.ts";
import { listOffered } from "../../mirror/modules/records.ts";
import { listRecorded } from "../../mirror/releases/records.ts";
import { denied, findExclusion } from "../../mirror/trust/admission-rules.ts";
import { needsDecision, type Candidate } from "../../trust/candidates.ts";
import {
  findKeyDecision,
  listDecided,
  type ReleaseName,
} from "../../trust/decisions.ts";
import { decideByRules } from "../../trust/policy.ts";
import { isKnownHere } from "./keys.ts";
import {
  carryOut,
  stateAfter,
  touchedNothing,
  type Deed,
  type NamedContent,
  type TrustParts,
} from "./decision.ts";

interface KnownContent extends NamedContent {
  /** Undefined unless it is a candidate. */
  readonly reason: Candidate["reason"] | undefined;
}

type Subject = Awaited<ReturnType<typeof readSubject>>;

/**
 * `provender trust approve|revoke|forget SPEC@VERSION [DIGEST]`: clients get exactly one content of the release, or do
 * not get it whoever signs it, or what they would get without that decision. No key becomes known by it (docs/trust.md,
 * rule 5). Returns the exit status.
 */
export async function decideContent(
  parts: TrustParts,
  spec: string,
  prefix: string | undefined,
  deed: Deed,
): Promise<number> {
  const subject = await readSubject(parts, spec);
  const { release, name, decided } = subject;
  if (deed === "revoke" && isModuleType(name.type))
    throw failure(
      "trust-decision",
      formatRelease(release),
      "is of a module, whose contents are approved or not",
      `deny the version in "policy.rules"`,
    );
  const chosen = await choose(parts, subject, prefix, deed);
  const { sha256sums } = chosen;
  const earlier = decided.find((one) => one.sha256sums === sha256sums);
  const content = await describe(parts, subject, chosen);
  const decision = stateAfter[deed];
  const state = decision ?? "not decided on";
  if (earlier?.decision === decision) {
    parts.stdout(
      `${formatRelease(release)} is ${state} already with ${content}.\n`,
    );
    return touchedNothing;
  }
  if (deed === "approve") expectEffect(parts, subject, chosen);
  const place = formatProviderAddress(release.provider);
  await carryOut(
    parts,
    release.provider,
    deed,
    { ...name, sha256sums },
    {
      ...(isModuleType(name.type) ? { module: place } : { provider: place }),
      ...{ version: release.version, fingerprint: chosen.fingerprint },
      detail: nameContent(release, sha256sums),
    },
  );
  const was = earlier && quoteDecision(release.provider, earlier);
  parts.stdout(
    `${formatRelease(release)} is ${state} with ${content}: ${effects[deed]}.\nBefore, it was ${was ?? "not decided on"}.\n`,
  );
  return 0;
}

const effects = {
  approve: "clients get exactly this content, and no key becomes known",
  revoke: "clients do not get this content, whoever signs it",
  forget: "clients get what they would get without that decision",
};

const whichOnes = {
  approve: "need a decision",
  revoke: "are not revoked yet",
  forget: "are decided on",
};

/** A release that a decision is about, with what is known of it: its contents by digest, candidates first. */
async function readSubject(parts: TrustParts, spec: string) {
  const release = parseReleaseSpec(spec, parts.hosts);
  const { provider, version } = release;
  const name: ReleaseName = { type: provider.type, version };
  const trust = await parts.trust.read(provider);
  const { list } = await parts.trust.readCandidates(provider);
  const recorded = await (isModuleType(provider.type)
    ? listOffered(parts.records, release)
    : listRecorded(parts.records, release));
  const decided = listDecided(trust.decisions, name);
  const known: readonly KnownContent[] = [
    ...list.filter((one) => one.version === version),
    ...recorded.filter(({ reason }) => reason !== undefined),
    ...recorded,
    ...decided.map(({ sha256sums }) => ({
      ...{ sha256sums, fingerprint: undefined, reason: undefined },
    })),
  ];
  const contents = known.filter(
    ({ sha256sums }, index) =>
      known.findIndex((one) => one.sha256sums === sha256sums) === index,
  );
  return { release, name, trust, decided, contents };
}

/** Finds the content that is meant, or the only one that can be. Throws trust-decision with the command for each, since not exactly one was chosen. */
async function choose(
  parts: TrustParts,
  subject: Subject,
  prefix: string | undefined,
  deed: Deed,
): Promise<NamedContent> {
  const { release, name, contents } = subject;
  const known =
    prefix === undefined ? listMeant(subject, deed) : match(contents, prefix);
  const isNew = known.length === 0 && deed === "approve";
  const offered =
    isNew && !isModuleType(name.type) ? await parts.lookUp(release) : [];
  const found = prefix === undefined ? offered : match(offered, prefix);
  const matching = known.length > 0 ? known : found;
  const [only, ...more] = matching;
  if (only !== undefined && more.length === 0) return only;
  const choices =
    matching.length > 0 || prefix === undefined
      ? matching
      : listMeant(subject, deed);
  const listed = choices.map(({ sha256sums, fingerprint = "none" }) => {
    const key = isModuleType(name.type) ? "" : `, key ${fingerprint}`;
    const command = formatApproval(release, sha256sums);
    return `\n  ${nameContent(release, sha256sums)}${key}: ${command.replace(" approve ", ` ${deed} `)}`;
  });
  throw failure(
    "trust-decision",
    formatRelease(release),
    `has ${matching.length === 0 ? `no content${prefix === undefined ? "s" : ""}` : `${matching.length} contents`} ${prefix === undefined ? `that ${whichOnes[deed]}` : `whose ${isModuleType(name.type) ? "archive or commit" : "SHA256SUMS"} begins with ${prefix}`}`,
    choices.length === 0
      ? `run "provender trust list${deed === "approve" ? "" : " --all"}", which names what ${deed === "approve" ? "needs a decision" : "was decided"}`
      : `run one of these:${listed.join("")}`,
  );
}

/** Lists the contents that a command without a digest may mean. */
function listMeant(
  { trust: { decisions }, name, decided, contents }: Subject,
  deed: Deed,
): readonly NamedContent[] {
  const stateOf = ({ sha256sums }: NamedContent) =>
    decided.find((one) => one.sha256sums === sha256sums)?.decision;
  if (deed === "forget") return contents.filter(stateOf);
  const all = { ...name, version: name.version };
  const meant = contents.filter((one) =>
    deed === "revoke"
      ? stateOf(one) !== "revoked"
      : one.reason !== undefined &&
        needsDecision(decisions, name.type, {
          ...{ ...all, ...one, reason: one.reason },
        }),
  );
  return meant.length > 0
    ? meant
    : contents.filter((one) => stateOf(one) === stateAfter[deed]);
}

function match<C extends NamedContent>(
  contents: readonly C[],
  prefix: string,
): readonly C[] {
  const digits = prefix.toLowerCase();
  if (!/^[0-9a-f]{8,64}$/.test(digits))
    throw failure(
      "malformed-address",
      "digest of a content",
      prefix,
      "8 to 64 hexadecimal digits",
    );
  return contents.filter(({ sha256sums }) => sha256sums.startsWith(digits));
}

/** An approval that would serve nothing is not made. */
function expectEffect(
  { rules }: TrustParts,
  { release, name, trust: { decisions } }: Subject,
  { fingerprint }: NamedContent,
): void {
  const { provider, version } = release;
  const subject = formatRelease(release);
  const revocation =
    fingerprint && findKeyDecision(decisions, "revoked", name, fingerprint);
  if (revocation)
    throw failure(
      "trust-decision",
      subject,
      `cannot be approved because its key ${fingerprint} was ${quoteDecision(provider, revocation)}`,
      "ask who decided that",
    );
  const setting = findExclusion(rules, provider, fingerprint);
  if (setting !== undefined)
    throw failure(
      "trust-decision",
      subject,
      `cannot be approved because "${setting}" excludes ${fingerprint === undefined ? "unsigned releases" : `its key ${fingerprint}`}`,
      `change "${setting}" in the configuration first`,
    );
  const rule = decideByRules(rules.policy, provider, version);
  if (rule.action === "deny" && rules.mode !== "report")
    throw denied(provider, version, rule);
}

async function describe(
  parts: TrustParts,
  { release, trust, name }: Subject,
  { sha256sums, fingerprint }: NamedContent,
): Promise<string> {
  const content = nameContent(release, sha256sums);
  if (fingerprint === undefined) return content;
  const isKnown =
    (await isKnownHere(parts, trust, release.provider, fingerprint)) ||
    findKeyDecision(trust.decisions, "approved", name, fingerprint);
  return `${content} under the key ${fingerprint}${isKnown ? "" : ", which is not known here"}`;
}
