import semver from "semver";
import type { Hostname } from "../../address/hostname.ts";
import { isMatch } from "../../address/policy-pattern.ts";
import {
  formatProviderAddress,
  type ProviderAddress,
} from "../../address/provider-address.ts";
import { typeOfModule } from "../../address/specs/trust-scope.ts";
import { formatDuration } from "../../address/units.ts";
import { formatVersionConstraint } from "../../address/version-constraint.ts";
import type { Version } from "../../address/version.ts";
import { isAbsence, isFailure } from "../../errors/index.ts";
import { findNearest } from "../../errors/nearest.ts";
import type { OriginHealth } from "../../origin/health/origin-health.ts";
import {
  decideByRules,
  type Policy,
  type PolicyDecision,
} from "../../trust/policy.ts";
import type { Answer } from "../cache/metadata-cache.ts";
import type { Clock } from "../cache/clock.ts";
import type { ListedModule } from "../modules/admission.ts";
import type { ModuleMirror } from "../modules/module-mirror.ts";
import { justNow, type ProviderMirror } from "../providers/provider-mirror.ts";
import type { ReleaseRecords } from "../releases/records.ts";
import type { Release, ReleaseAddress } from "../releases/release.ts";
import type { TamperedArchives } from "../releases/tampered-archives.ts";
import type { ProviderCatalog } from "../standings/provider-catalog.ts";
import type { Refusals } from "../standings/refusals.ts";
import type { Standings } from "../standings/standings.ts";
import type { Admission } from "../trust/admission.ts";
import { formatLeftOut, formatNewer } from "../trust/left-out.ts";
import {
  explainPending,
  type PendingDecision,
  readPending,
} from "../trust/pending-decisions.ts";
import type { TrustStore } from "../trust/trust-store.ts";
import {
  formatQuestion,
  type WhyQuestion,
  explainError,
  refuse,
  serve,
  type Why,
} from "./why.ts";

interface ExplanationParts {
  readonly providers: ProviderMirror;
  readonly modules: ModuleMirror;
  readonly admission: Admission;
  readonly trust: TrustStore;
  readonly catalog: Pick<ProviderCatalog, "peekVersions">;
  readonly standings: Pick<Standings, "listRefused">;
  readonly releases: Pick<ReleaseRecords, "list" | "listProviders">;
  readonly tampered: TamperedArchives;
  readonly health: Pick<OriginHealth, "failingFor">;
  readonly clock: Clock;
  /** Hostnames that the configuration serves. */
  readonly hostnames: readonly Hostname[];
}

type ProviderQuestion = WhyQuestion & { readonly provider: ProviderAddress };
type ModuleQuestion = Exclude<WhyQuestion, ProviderQuestion>;

const onlyReports =
  "The policy only reports: what it denies or finds too young is served all the same.";

/** Providers among which a similar name is looked for. */
const mostCompared = 2_000;

/** The one answer to "why": what a client that asks now is answered, by the way that its question takes, with what is known beside it. */
export class Explanations {
  readonly #parts: ExplanationParts;

  constructor(parts: ExplanationParts) {
    this.#parts = parts;
  }

  async explain(question: WhyQuestion): Promise<Why> {
    const subject = formatQuestion(question, " ");
    const isProvider = "provider" in question;
    const served = isProvider
      ? this.#explainServed(subject, question)
      : this.#explainModule(subject, question);
    const why = await served.catch(async (error: unknown) => {
      const refused = explainError(subject, error);
      const more = await this.#tellMore(question, error);
      return { ...refused, reasons: [...refused.reasons, ...more] };
    });
    const pending = await this.#tellCandidates(question);
    const rules = isProvider ? this.#tellRules(question) : [];
    return { ...why, reasons: [...why.reasons, ...pending, ...rules] };
  }

  async #explainServed(
    subject: string,
    { provider, version }: ProviderQuestion,
  ): Promise<Why> {
    const { providers } = this.#parts;
    if (version !== undefined)
      return this.#explainRelease(subject, { provider, version });
    const answer = await providers.listVersions(provider, { maxAge: justNow });
    const { versions, leftOut } = answer.value;
    const facts = [...tellListed(answer.value), ...tellAge(answer)];
    // What clients choose, unless they ask for another.
    const chosen =
      versions.find((one) => semver.prerelease(one) === null) ?? versions[0];
    if (chosen === undefined) return serve(subject, facts);
    const address = { provider, version: chosen };
    const why = await this.#explainRelease(subject, address).catch(
      (error: unknown) => explainError(subject, error),
    );
    const newer = formatNewer(chosen, leftOut);
    const answered = why.verdict === "served" ? "is served" : "cannot be had";
    const headline = [`${chosen} ${answered}`, ...(newer ? [newer] : [])];
    return {
      ...why,
      headline: headline.join("; "),
      reasons: [...why.reasons, ...facts],
    };
  }

  /** What clients get of a release, archives included. */
  async #explainRelease(
    subject: string,
    address: ReleaseAddress,
  ): Promise<Why> {
    const { providers, tampered } = this.#parts;
    const asked = { absentFor: justNow };
    const answer = await providers.findRelease(address, asked);
    const { release } = answer.value;
    const wrong = await tellTampered(release, tampered);
    const facts = [tellSigner(release), ...tellAge(answer)];
    if (wrong.length > 0)
      return refuse(subject, "refused", "archive-digest", [...wrong, ...facts]);
    const tried = await providers.tryArchive(answer.value);
    if (tried.failure === undefined) return serve(subject, facts);
    const why = explainError(subject, tried.failure);
    if (!tried.isStored) return { ...why, reasons: [...why.reasons, ...facts] };
    const missing = `${tried.filename ?? "An archive"} is not stored: ${why.reasons.join(" ")}`;
    return serve(subject, [...facts, missing]);
  }

  async #explainModule(
    subject: string,
    { module, version }: ModuleQuestion,
  ): Promise<Why> {
    const { modules } = this.#parts;
    if (version === undefined) {
      const answer = await modules.listVersions(module);
      return serve(subject, [...tellListed(answer.value), ...tellAge(answer)]);
    }
    const answer = await modules.findLocation({ module, version });
    const how =
      answer.value.kind === "archive"
        ? "The mirror keeps its archive."
        : "It is passed through: the mirror cannot fetch from where its registry leads, so clients are sent there.";
    return serve(subject, [how, ...tellAge(answer)]);
  }

  /** Returns remedies beside the refusal. */
  async #tellMore(
    question: WhyQuestion,
    error: unknown,
  ): Promise<readonly string[]> {
    const { hostnames } = this.#parts;
    if (isFailure(error, "nothing-admitted"))
      return error.reasons.map((line) => `${line}.`);
    if (isFailure(error, "origin-not-served")) {
      const served = `It serves ${hostnames.join(", ")}.`;
      return [served, ...tellNearest(error.hostname, hostnames)];
    }
    if (isFailure(error, "too-young") && "provider" in question)
      return [tellUrgent(question)];
    if (isAbsence(error))
      return "provider" in question ? this.#tellMeant(question) : [];
    return this.#tellFailing(error);
  }

  /** Since when the host that an error names has given nothing but failures. */
  #tellFailing(error: unknown): readonly string[] {
    const { health, clock } = this.#parts;
    const { url } = error as { readonly url?: string };
    const asked = url === undefined ? null : URL.parse(url);
    const milliseconds = asked && health.failingFor(asked);
    if (milliseconds == null) return [];
    const since = new Date(clock.now().getTime() - milliseconds);
    return [`Its host has been failing since ${since.toISOString()}.`];
  }

  async #tellMeant({
    provider,
    version,
  }: ProviderQuestion): Promise<readonly string[]> {
    const { releases, catalog } = this.#parts;
    const list = await catalog.peekVersions(provider);
    const kept = await releases.list(provider);
    const versions = new Set<Version>([
      ...(list?.versions.keys() ?? []),
      ...kept,
    ]);
    if (version !== undefined && versions.size > 0)
      return [
        ...tellDocuments(
          await this.#parts.standings.listRefused({ provider }),
          version,
        ),
        ...tellNearest(version, [...versions]),
      ];
    const others = await releases.listProviders(mostCompared);
    return nearestProvider(provider, others);
  }

  /** Names the candidates, each with the command that takes it. */
  async #tellCandidates(question: WhyQuestion): Promise<readonly string[]> {
    const { trust, admission } = this.#parts;
    const asked =
      "provider" in question
        ? question.provider
        : typeOfModule(question.module);
    // A record that cannot be read is the reason of the refusal.
    const pending = await readPending(trust, asked, admission.rules).catch(
      () => [],
    );
    return tellPending(pending, question.version);
  }

  #tellRules({ provider, version }: ProviderQuestion): readonly string[] {
    const { policy, mode } = this.#parts.admission.rules;
    const sentences = tellRules(policy, provider, version);
    return mode === "report" ? [...sentences, onlyReports] : sentences;
  }
}

/** A person's word about a content passes the minimum age. */
function tellUrgent(question: ProviderQuestion): string {
  return `If it is urgent, the mirror's operator serves the content that its registry offers now by "provender trust approve ${formatQuestion(question, "@")} --because TEXT".`;
}

/** Describes the version list of a provider or module. */
function tellListed({ versions, leftOut }: ListedModule): readonly string[] {
  const count = `Clients get ${versions.length} of its versions, the newest is ${versions[0] ?? "none"}.`;
  return [count, ...formatLeftOut(leftOut).map((line) => `${line}.`)];
}

/** Entries of one sort that a page names. */
const mostTold = 20;

/**
 * Returns a note when an answer is stale, because the origin registry fails.
 */
function tellAge({ outcome, age }: Answer<unknown>): readonly string[] {
  if (outcome !== "stale") return [];
  const seconds = Math.round(age / 1000);
  return [
    `The origin registry is failing; this is what it said ${seconds} s ago.`,
  ];
}

function tellSigner({ checksums }: Release): string {
  const { signedBy } = checksums;
  return signedBy === undefined
    ? "It is not signed, which the configuration allows."
    : `It is signed with the key ${signedBy}.`;
}

/** Names candidates of a provider, each with the command that takes it. */
function tellPending(
  pending: readonly PendingDecision[],
  version: Version | undefined,
): readonly string[] {
  return pending
    .filter((one) => version === undefined || one.version === version)
    .slice(0, mostTold)
    .map((one) => {
      const { version, command, setting } = one;
      const remedy =
        command === undefined
          ? `change "${setting}" if it is good`
          : `"${command}" takes it`;
      return `${version} is offered as a candidate since ${one.since} (${explainPending(one)}), which clients do not get: after checking with the publisher, ${remedy}.`;
    });
}

/** Archives of a release that came with other bytes than were signed. */
async function tellTampered(
  { packages }: Release,
  tampered: TamperedArchives,
): Promise<readonly string[]> {
  const own = [...packages.values()];
  const found = await Promise.all(
    own.map(({ sha256 }) => tampered.find(sha256)),
  );
  return own.flatMap(({ filename, sha256 }, index) => {
    const one = found[index];
    return one === undefined
      ? []
      : [
          `The origin sent other bytes for ${filename} than were signed, last at ${one.at.toISOString()}: expected SHA-256 ${sha256}, got ${one.got}; nothing of them was kept.`,
        ];
  });
}

/** Says since when a listed version has no documents. */
function tellDocuments(
  refusals: Refusals,
  version: Version,
): readonly string[] {
  const { code, since } = refusals.get(version) ?? {};
  if (code !== "not-found" || since === undefined) return [];
  return [
    `Its registry lists it without having its documents (404 or 410), as seen first at ${since.toISOString()}: lists of this mirror leave it out until they come, and the registry is asked again once in "freshness.versions".`,
  ];
}

/** Suggests a similar name of the same kind. */
function tellNearest(
  name: string,
  known: readonly string[],
): readonly string[] {
  const nearest = findNearest(name, known);
  return nearest === undefined || nearest === name
    ? []
    : [`This mirror knows ${nearest}, which has a similar name.`];
}

/** Without the hostname, which is alike too often. */
function nearestProvider(
  provider: ProviderAddress,
  known: readonly ProviderAddress[],
): readonly string[] {
  const siblings = known
    .filter(({ hostname }) => hostname === provider.hostname)
    .map(({ namespace, type }) => `${namespace}/${type}`);
  const { namespace, type } = provider;
  return tellNearest(`${namespace}/${type}`, siblings);
}

/** The line of the configuration that decides about a version; of a whole provider, each that decides about some of its versions, and about the rest. */
export function tellRules(
  policy: Policy,
  provider: ProviderAddress,
  version: Version | undefined,
): readonly string[] {
  const name = formatProviderAddress(provider);
  if (version !== undefined) {
    const decision = decideByRules(policy, provider, version);
    return [`${name} ${version} is ${formatOutcome(policy, decision)}`];
  }
  const about = policy.rules.filter(({ pattern }) =>
    isMatch(pattern, provider),
  );
  const end = about.findIndex(({ versions }) => versions === undefined);
  const some = end < 0 ? about : about.slice(0, end);
  const rest = some.length > 0 ? "Every other version" : "Every version";
  const outcome = formatOutcome(policy, about[end] ?? policy.otherwise);
  return [
    ...some.map(
      ({ rule }) => `${formatRule(policy, rule)} decides for its versions.`,
    ),
    `${rest} of ${name} is ${outcome}`,
  ];
}

function formatOutcome(policy: Policy, decision: PolicyDecision): string {
  const { action, rule, minimumAge, minimumAgeRule } = decision;
  const by = formatRule(policy, rule);
  if (action === "deny") return `denied by ${by}.`;
  return minimumAge === 0
    ? `allowed by ${by}.`
    : `allowed by ${by}, once it is ${formatDuration(minimumAge)} old (${minimumAgeRule}).`;
}

/** `policy.rules[0] (deny example.com/acme/*, versions >= 3.0.0)`; the default's key alone. */
function formatRule({ rules }: Policy, key: string): string {
  const found = rules.find(({ rule }) => rule === key);
  if (found === undefined) return key;
  const { action, pattern, versions } = found;
  const range = versions && `, versions ${formatVersionConstraint(versions)}`;
  return `${key} (${action} ${pattern.text}${range ?? ""})`;
}
