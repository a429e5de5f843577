import type { Hostname } from "../../address/hostname.ts";
import type { ProviderAddress } from "../../address/provider-address.ts";
import { typeOfModule } from "../../address/specs/trust-scope.ts";
import type { Version } from "../../address/version.ts";
import { isAbsence, isFailure } from "../../errors/index.ts";
import type { ListedModule } from "../modules/admission.ts";
import type { ModuleMirror } from "../modules/module-mirror.ts";
import type { OriginHealth } from "../../origin/health/origin-health.ts";
import type { Clock } from "../cache/clock.ts";
import type { ProviderCatalog } from "../standings/provider-catalog.ts";
import type { Standings } from "../standings/standings.ts";
import type { ProviderMirror } from "../providers/provider-mirror.ts";
import type { ReleaseRecords } from "../releases/records.ts";
import type { TamperedArchives } from "../releases/tampered-archives.ts";
import type { Admission } from "../trust/admission.ts";
import { formatLeftOut } from "../trust/left-out.ts";
import { readPending } from "../trust/pending-decisions.ts";
import type { TrustStore } from "../trust/trust-store.ts";
import {
  nearestProvider,
  tellAge,
  tellNearest,
  tellPending,
  tellPhantom,
  tellRules,
  tellSigner,
  tellTampered,
} from "./facts.ts";
import { formatQuestion, type WhyQuestion } from "./question.ts";
import { explainError, type Why } from "./why.ts";

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
    const { providers, tampered } = this.#parts;
    if (version === undefined) {
      const answer = await providers.listVersions(provider);
      return serve(subject, [...tellListed(answer.value), ...tellAge(answer)]);
    }
    const answer = await providers.findRelease({ provider, version });
    const { release } = answer.value;
    const wrong = await tellTampered(release, tampered);
    const facts = [tellSigner(release), ...tellAge(answer)];
    if (wrong.length === 0) return serve(subject, facts);
    const reasons = [...wrong, ...facts];
    return { subject, verdict: "refused", code: "archive-digest", reasons };
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
    if (
      isFailure(error, "origin-not-served", "origin-not-served-fall-through")
    ) {
      const served = `It serves ${hostnames.join(", ")}.`;
      return [served, ...tellNearest(error.hostname, hostnames)];
    }
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
        ...tellPhantom(
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

/** Describes the version list of a provider or module. */
function tellListed({ versions, leftOut }: ListedModule): readonly string[] {
  const count = `Clients get ${versions.length} of its versions, the newest is ${versions[0] ?? "none"}.`;
  return [count, ...formatLeftOut(leftOut).map((line) => `${line}.`)];
}

function serve(subject: string, reasons: readonly string[]): Why {
  return { subject, verdict: "served", code: undefined, reasons };
}
