import semver from "semver";
import {
  formatModuleAddress,
  type ModuleAddress,
  typeOfModule,
} from "../../address/module-address.ts";
import {
  formatProviderAddress,
  type ProviderAddress,
} from "../../address/provider-address.ts";
import {
  readEitherSpec,
  type SpecHosts,
  quoteDecision,
} from "../../address/spec.ts";
import { formatPlatform } from "../../address/platform.ts";
import { formatDuration } from "../../address/units.ts";
import { formatVersionConstraint } from "../../address/version-constraint.ts";
import {
  isVersion,
  parseVersion,
  type Version,
} from "../../address/version.ts";
import {
  type ErrorCode,
  isAbsence,
  isFailure,
  isOriginFailure,
  ProvenderError,
} from "../../errors/index.ts";
import { listDecided } from "../../trust/decisions.ts";
import { decideByRules, type Policy } from "../../trust/policy.ts";
import type { Answer } from "../cache/metadata-cache.ts";
import type { ModuleMirror } from "../modules/module-mirror.ts";
import { justNow, type ProviderMirror } from "../providers/provider-mirror.ts";
import { digestOf } from "../releases/evidence.ts";
import type { ReleaseAddress } from "../releases/release.ts";
import type { Standings } from "../standings/standings.ts";
import type { Admission } from "../trust/admission.ts";
import { formatLeftOut, formatNewer } from "../trust/left-out.ts";
import { explainPending, readPending } from "../trust/pending-decisions.ts";
import type { TrustStore } from "../trust/trust-store.ts";

/** The subject of a question: a provider or module, or one version of it. */
export type WhyQuestion = (
  { readonly provider: ProviderAddress } | { readonly module: ModuleAddress }
) & { readonly version: Version | undefined };

export interface Why {
  /** `HOSTNAME/NAMESPACE/TYPE`, or a module with all its parts, and a version behind a space. */
  readonly subject: string;
  readonly verdict: "served" | "refused" | "absent" | "failing";
  readonly headline: string;
  /** Code of the error that clients get; null when they are served. */
  readonly code: ErrorCode | null;
  /** Sentences for people, the cause first; nothing in them is a secret. */
  readonly reasons: readonly string[];
}

type Told = Omit<Why, "subject">;

/** What answers clients, and what is known beside its answers. */
interface Mirror {
  readonly providers: ProviderMirror;
  readonly modules: ModuleMirror;
  readonly admission: Admission;
  readonly standings: Standings;
  readonly trust: TrustStore;
}

const titles = {
  served: "Clients get it",
  refused: "This mirror refuses it",
  absent: "There is no such thing",
  failing: "Clients do not get it now",
} as const satisfies Record<Why["verdict"], string>;

const onlyReports =
  "The policy only reports: what it denies or finds too young is served all the same.";

/** Candidates that an answer names. */
const mostTold = 20;

/** The one answer to "why": asks as a client does, and says what it is answered, by which line of the configuration, and what waits for a decision. */
export async function explain(
  mirror: Mirror,
  question: WhyQuestion,
): Promise<Why> {
  const { version } = question;
  const answer =
    version === undefined
      ? explainNewest(mirror, question)
      : explainVersion(mirror, { ...question, version });
  const told = await answer.catch(explainError);
  const candidates = await tellCandidates(mirror, question);
  const isReporting = mirror.admission.rules.mode === "report";
  const more = isReporting ? [onlyReports] : [];
  const reasons = [...told.reasons, ...candidates, ...more];
  return { subject: formatQuestion(question, " "), ...told, reasons };
}

/** What becomes of clients that name no version. */
async function explainNewest(
  mirror: Mirror,
  question: WhyQuestion,
): Promise<Told> {
  const { providers, modules } = mirror;
  const asked = { maxAge: justNow };
  const answer = await ("provider" in question
    ? providers.listVersions(question.provider, asked)
    : modules.listVersions(question.module, asked));
  const { versions, leftOut } = answer.value;
  const released = versions.find((one) => semver.prerelease(one) === null);
  const [newest] = versions;
  const chosen = released ?? newest;
  if (chosen === undefined) {
    const reasons = ["Its registry lists no version of it."];
    const headline = titles.absent;
    return { verdict: "absent", headline, code: "not-found", reasons };
  }
  const one = { ...question, version: chosen };
  const why = await explainVersion(mirror, one).catch(explainError);
  const verb = why.verdict === "served" ? "Clients get" : "This mirror lists";
  const reasons = [
    ...why.reasons,
    `${verb} ${versions.length} of its versions, the newest is ${newest}.`,
    ...formatLeftOut(leftOut).map((line) => `${line}.`),
    ...tellStale(answer),
  ];
  if (released === undefined) {
    const headline =
      "It has no version but prereleases, which clients have to name";
    return { verdict: "absent", headline, code: "no-version", reasons };
  }
  const otherwise = why.verdict === "refused" ? "is refused" : "cannot be had";
  // Not to all platforms, maybe.
  const outcome = why.headline.startsWith(titles.served)
    ? why.headline.replace(titles.served, "is served")
    : otherwise;
  const newer = formatNewer(chosen, leftOut);
  const headline = `${chosen} ${outcome}${newer === undefined ? "" : `; ${newer}`}`;
  return { ...why, headline, reasons };
}

async function explainVersion(
  mirror: Mirror,
  question: WhyQuestion & { readonly version: Version },
): Promise<Told> {
  if ("provider" in question) return explainRelease(mirror, question);
  const answer = await mirror.modules.findLocation(question);
  const how =
    answer.value.kind === "archive"
      ? "The mirror keeps its archive."
      : "It is passed through: the mirror cannot fetch from where its registry leads, so clients are sent there.";
  return serve([how, ...tellStale(answer)]);
}

/** What clients get of a release: the decision, then an archive that is not stored. */
async function explainRelease(
  { providers, standings, admission, trust }: Mirror,
  address: ReleaseAddress,
): Promise<Told> {
  const rule = tellRule(admission.rules.policy, address);
  try {
    const asked = { absentFor: justNow };
    const answer = await providers.findRelease(address, asked);
    const { checksums, proof } = answer.value.release;
    const { signedBy } = checksums;
    const sha256sums = digestOf(proof.document);
    const { version, provider } = address;
    const { decisions } = await trust.read(provider);
    const decided = listDecided(decisions, { type: provider.type, version });
    const approval = decided.find((one) => one.sha256sums === sha256sums);
    const because = approval
      ? `Its content was ${quoteDecision(provider, approval)}.`
      : rule;
    const facts = [
      signedBy === undefined
        ? "It is not signed, which the configuration allows."
        : `It is signed with the key ${signedBy}.`,
      ...tellStale(answer),
    ];
    const tried = await providers.tryArchives(answer.value);
    const failed = tried.filter(({ error }) => error !== undefined);
    const isStored = tried.some((one) => one.isStored);
    const wrong = failed.find(({ error }) =>
      isFailure(error, "archive-digest"),
    );
    const bad = wrong ?? failed[0];
    if (bad === undefined)
      return serve([...facts, ...(isStored ? [] : [unseen]), because]);
    const why = explainError(bad.error);
    // What the registry offers in its place becomes a candidate, which people can decide on.
    if (failed.some(({ error }) => isFailure(error, "checksum-conflict")))
      await providers
        .findRelease(address, { maxAge: justNow })
        .catch(() => undefined);
    const names = failed.map(({ platform }) => formatPlatform(platform));
    const headline =
      failed.length < tried.length
        ? `${titles.served}, but not on ${names.join(", ")}`
        : why.headline;
    if (!isStored || wrong !== undefined)
      return { ...why, headline, reasons: [...why.reasons, ...facts] };
    const missing = `${bad.filename} is not stored: ${why.reasons.join(" ")}`;
    return { ...serve([...facts, missing, because]), headline };
  } catch (error) {
    const why = explainError(error);
    const refusals = await standings.refused.list(address.provider);
    const since = refusals.get(address.version)?.since.toISOString();
    const reasons = [...why.reasons];
    if (why.code === "not-found" && since !== undefined)
      reasons.push(
        `Its registry lists it without having its documents (404 or 410), as seen first at ${since}: lists of this mirror leave it out until they come, and the registry is asked again once in "freshness.versions".`,
      );
    if (why.code === "policy-denied" || why.code === "too-young")
      reasons.push(rule);
    return { ...why, reasons };
  }
}

const unseen =
  "Nothing of it is stored yet: each archive is checked when it is fetched first.";

/** Names candidates, each with the command that takes it. */
async function tellCandidates(
  { trust, admission }: Mirror,
  question: WhyQuestion,
): Promise<readonly string[]> {
  const asked =
    "provider" in question ? question.provider : typeOfModule(question.module);
  // A record that cannot be read is the reason of the refusal.
  const pending = await readPending(trust, asked, admission.rules).catch(
    () => [],
  );
  return pending
    .filter((one) => (question.version ?? one.version) === one.version)
    .slice(0, mostTold)
    .map((one) => {
      const remedy =
        one.command === undefined
          ? `change "${one.setting}" if it is good`
          : `"${one.command}" takes it`;
      return `${one.version} is offered as a candidate since ${one.since} (${explainPending(one)}), which clients do not get: after checking with the publisher, ${remedy}.`;
    });
}

function tellStale({ outcome, age }: Answer<unknown>): readonly string[] {
  if (outcome !== "stale") return [];
  const seconds = Math.round(age / 1000);
  return [
    `The origin registry is failing; this is what it said ${seconds} s ago.`,
  ];
}

/** The line of the configuration that decides about a version: `denied by policy.rules[0] (deny example.com/acme/*, versions >= 3.0.0)`. */
export function tellRule(
  policy: Policy,
  { provider, version }: ReleaseAddress,
): string {
  const { action, rule, minimumAge, minimumAgeRule } = decideByRules(
    policy,
    provider,
    version,
  );
  const found = policy.rules.find((one) => one.rule === rule);
  const range =
    found?.versions && `, versions ${formatVersionConstraint(found.versions)}`;
  const line =
    found && ` (${found.action} ${found.pattern.text}${range ?? ""})`;
  const age =
    action === "deny" || minimumAge === 0
      ? ""
      : `, once it is ${formatDuration(minimumAge)} old (${minimumAgeRule})`;
  const verb = action === "deny" ? "denied" : "allowed";
  return `${formatProviderAddress(provider)} ${version} is ${verb} by ${rule}${line ?? ""}${age}.`;
}

function serve(reasons: readonly string[]): Told {
  const headline = titles.served;
  return { verdict: "served", headline, code: null, reasons };
}

/** The row of the error table, but no path of the machine, which is for its operator alone. */
export function explainError(error: unknown): Told {
  if (!(error instanceof ProvenderError)) throw error;
  const { code } = error;
  const isOperators = /^(?:store-(?!full)|record-|stored-|database-)/.test(
    code,
  );
  const isUnknown =
    isOperators ||
    isOriginFailure(error) ||
    isFailure(error, "too-busy", "store-full");
  const verdict = isAbsence(error)
    ? "absent"
    : isUnknown
      ? "failing"
      : "refused";
  const untold = isFailure(error, "record-unreadable")
    ? "What this mirror saw first of it cannot be read"
    : "The store of this mirror cannot be used now";
  const reasons = [
    isOperators
      ? `${untold}: the operator finds the reason in the log.`
      : error.message,
  ];
  if (isFailure(error, "nothing-admitted"))
    reasons.push(...error.reasons.map((line) => `${line}.`));
  if (isFailure(error, "too-young"))
    reasons.push(
      error.provider.split("/").length > 3
        ? 'If it is urgent, the mirror\'s operator gives this version a rule with "minimumAge: 0" in "policy.rules", before the one that holds it back.'
        : `If it is urgent, the mirror's operator serves the content that its registry offers now by "provender trust approve ${error.provider}@${error.version} --because TEXT".`,
    );
  const headline = isFailure(error, "not-stored")
    ? "It is not stored here"
    : titles[verdict];
  return { verdict, headline, code, reasons };
}

/** Reads `HOSTNAME/NAMESPACE/TYPE[/VERSION]`, or `HOSTNAME/NAMESPACE/NAME/SYSTEM[/VERSION]`: no target system has the dots of a version. */
export function parseWhyPath(path: string): WhyQuestion {
  const parts = path.split("/");
  const [hostname = "", , , fourth = ""] = parts;
  const isVersioned = parts.length > 4 || isVersion(fourth);
  const spec = isVersioned ? path.replace(/\/(?=[^/]*$)/, "@") : path;
  const configured = new Set([hostname]);
  return parseWhySpec(spec, { configured, allowsOthers: true });
}

export function parseWhySpec(spec: string, hosts: SpecHosts): WhyQuestion {
  const { chosen, ...subject } = readEitherSpec(spec, hosts);
  const version = chosen === undefined ? undefined : parseVersion(chosen);
  return { ...subject, version };
}

/** Formats a question as `parseWhyPath` parses it; a space before the version is for people. */
export function formatQuestion(question: WhyQuestion, before = "/"): string {
  const name =
    "provider" in question
      ? formatProviderAddress(question.provider)
      : formatModuleAddress(question.module);
  const { version } = question;
  return version === undefined ? name : `${name}${before}${version}`;
}
