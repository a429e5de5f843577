import { formatProviderAddress } from "../../address/provider-address.ts";
import { parseReleaseSpec } from "../../address/specs/trust-scope.ts";
import {
  failure,
  formatApproval,
  formatKeyDecision,
  isModuleType,
  nameContent,
  type Failure,
} from "../../errors/index.ts";
import {
  formatRelease,
  type ReleaseAddress,
} from "../../mirror/releases/release.ts";
import { listOffered } from "../../mirror/modules/records.ts";
import { listRecorded } from "../../mirror/releases/signed-releases.ts";
import { findExclusion } from "../../mirror/trust/admission-rules.ts";
import { needsDecision, type Candidate } from "../../trust/candidates.ts";
import {
  approveContent as approve,
  listApproved,
  withdrawContent,
  type Decisions,
  type ReleaseName,
} from "../../trust/decisions.ts";
import {
  decidedNow,
  recordDecision,
  touchedNothing,
  type TrustParts,
} from "./decision.ts";
import { findRevocation, nameDecided } from "./keys.ts";

/** Content of a release that can be approved or whose approval can be taken back. */
interface NamedContent {
  /** SHA-256 of its SHA256SUMS; a module's archive or commit. */
  readonly sha256sums: string;
  /** Undefined for an unsigned release, or when that is not known. */
  readonly fingerprint: string | undefined;
}

/** A release that a decision is about, with what is known of it. */
interface Subject {
  readonly release: ReleaseAddress;
  readonly name: ReleaseName;
  readonly decisions: Decisions;
  readonly candidates: readonly Omit<Candidate, "since">[];
  readonly approved: readonly NamedContent[];
}

/**
 * `provender trust approve SPEC@VERSION`: clients get exactly one content of the release, and no key becomes known by
 * it (docs/trust.md, rule 5). Returns the exit status.
 */
export async function approveContent(
  parts: TrustParts,
  spec: string,
  prefix: string | undefined,
): Promise<number> {
  const subject = await readSubject(parts, spec);
  const { release, name, approved } = subject;
  const chosen = chooseCandidate(subject, prefix);
  const { sha256sums } = chosen;
  if (approved.some((one) => one.sha256sums === sha256sums)) {
    parts.stdout(
      `${formatRelease(release)} is approved already with ${describe(release, chosen)}.\n`,
    );
    return touchedNothing;
  }
  expectEffect(parts, subject, chosen);
  const decided = { ...name, sha256sums, ...decidedNow(parts) };
  await parts.trust.decide(release.provider, (decisions) =>
    approve(decisions, decided),
  );
  await recordContent(parts, "approved", release, chosen);
  parts.stdout(
    `${formatRelease(release)} is approved with ${describe(release, chosen)}: clients get exactly this content, and no key becomes known.\n`,
  );
  return 0;
}

/** `provender trust revoke SPEC@VERSION`: removes the approval of a content. Returns the exit status. */
export async function revokeContent(
  parts: TrustParts,
  spec: string,
  prefix: string | undefined,
): Promise<number> {
  const { release, name, approved } = await readSubject(parts, spec);
  const chosen = chooseApproved(release, approved, prefix);
  const { sha256sums } = chosen;
  await parts.trust.decide(release.provider, (decisions) =>
    withdrawContent(decisions, { ...name, sha256sums }),
  );
  await recordContent(parts, "revoked", release, chosen);
  parts.stdout(
    `${formatRelease(release)} is no longer approved with ${describe(release, chosen)}: clients get its pinned checksums again, or none.\n`,
  );
  return 0;
}

async function readSubject(parts: TrustParts, spec: string): Promise<Subject> {
  const release = parseReleaseSpec(spec, parts.hosts);
  const { provider, version } = release;
  const name = { type: provider.type, version };
  const { decisions } = await parts.trust.read(provider);
  const { list } = await parts.trust.readCandidates(provider);
  const listed = list.filter((one) => one.version === version);
  const readCandidates = isModuleType(provider.type)
    ? listOffered
    : listRecorded;
  const recorded = await readCandidates(parts.records, release);
  const isListed = ({ sha256sums }: NamedContent) =>
    listed.some((one) => one.sha256sums === sha256sums);
  const candidates = [...listed, ...recorded.filter((one) => !isListed(one))];
  const approved = listApproved(decisions, name).map((sha256sums) => ({
    sha256sums,
    fingerprint: candidates.find((one) => one.sha256sums === sha256sums)
      ?.fingerprint,
  }));
  return { release, name, decisions, candidates, approved };
}

/** A content that was approved before may be named too, and is reported as such. */
function chooseCandidate(
  { release, name, decisions, candidates, approved }: Subject,
  prefix: string | undefined,
): NamedContent {
  const pending = candidates.filter((one) =>
    needsDecision(decisions, name.type, one),
  );
  const named = new Map<string, NamedContent>(
    [...approved, ...candidates].map((one) => [one.sha256sums, one]),
  );
  const matching =
    prefix === undefined ? pending : match([...named.values()], prefix);
  const isDecided = prefix === undefined && matching.length === 0;
  const [only, ...more] = isDecided ? approved : matching;
  if (only !== undefined && more.length === 0) return only;
  const problem = describeProblem(
    ...([release, prefix, matching.length, "need a decision"] as const),
  );
  const choices = matching.length > 0 ? matching : candidates;
  throw chooseOne(release, problem, choices, "approve");
}

function chooseApproved(
  release: ReleaseAddress,
  approved: readonly NamedContent[],
  prefix: string | undefined,
): NamedContent {
  const matching = prefix === undefined ? approved : match(approved, prefix);
  const [only, ...more] = matching;
  if (only !== undefined && more.length === 0) return only;
  const problem = describeProblem(
    ...([release, prefix, matching.length, "are approved"] as const),
  );
  const choices = matching.length > 0 ? matching : approved;
  throw chooseOne(release, problem, choices, "revoke");
}

/** Names the command for each content, since not exactly one was chosen. */
function chooseOne(
  release: ReleaseAddress,
  problem: string,
  choices: readonly NamedContent[],
  decision: "approve" | "revoke",
): Failure<"trust-decision"> {
  const listed = choices.map(({ sha256sums, fingerprint = "none" }) => {
    const key = isModuleType(release.provider.type)
      ? ""
      : `, key ${fingerprint}`;
    const command = formatApproval(release, sha256sums);
    return `\n  ${nameContent(release, sha256sums)}${key}: ${command.replace(" approve ", ` ${decision} `)}`;
  });
  const remedy =
    choices.length === 0
      ? 'run "provender trust list", which names what needs a decision'
      : `run one of these:${listed.join("")}`;
  return failure("trust-decision", formatRelease(release), problem, remedy);
}

function describeProblem(
  release: ReleaseAddress,
  prefix: string | undefined,
  count: number,
  which: string,
): string {
  if (prefix !== undefined)
    return `has ${count === 0 ? "no content" : `${count} contents`} whose ${nameDigest(release)} begins with ${prefix}`;
  return count === 0
    ? `has no contents that ${which}`
    : `has ${count} contents that ${which}`;
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

/** An approval under a revoked or excluded key would serve nothing. */
function expectEffect(
  { rules }: TrustParts,
  { release, name, decisions }: Subject,
  { fingerprint }: NamedContent,
): void {
  const subject = formatRelease(release);
  const revocation =
    fingerprint === undefined
      ? undefined
      : findRevocation(decisions, name, fingerprint);
  if (fingerprint !== undefined && revocation !== undefined)
    throw failure(
      "trust-decision",
      subject,
      `cannot be approved because its key ${fingerprint} is revoked`,
      `if the key is good again, run "${formatKeyDecision("approve", fingerprint, nameDecided(release.provider, revocation))}" first`,
    );
  const setting = findExclusion(rules, release.provider, fingerprint);
  if (setting !== undefined)
    throw failure(
      "trust-decision",
      subject,
      `cannot be approved because "${setting}" excludes ${fingerprint === undefined ? "unsigned releases" : `its key ${fingerprint}`}`,
      `change "${setting}" in the configuration first`,
    );
}

function describe(
  release: ReleaseAddress,
  { sha256sums, fingerprint }: NamedContent,
): string {
  return `${nameContent(release, sha256sums)}${fingerprint === undefined ? "" : ` under the key ${fingerprint}`}`;
}

function nameDigest({ provider }: ReleaseAddress): string {
  return isModuleType(provider.type) ? "archive or commit" : "SHA256SUMS";
}

async function recordContent(
  parts: TrustParts,
  event: "approved" | "revoked",
  release: ReleaseAddress,
  { sha256sums, fingerprint }: NamedContent,
): Promise<void> {
  const { provider, version } = release;
  const name = formatProviderAddress(provider);
  await recordDecision(parts, event, {
    ...(isModuleType(provider.type) ? { module: name } : { provider: name }),
    ...{ version, fingerprint },
    detail: nameContent(release, sha256sums),
  });
}
