import { LRUCache } from "lru-cache";
import type { ModuleAddress } from "../../address/module-address.ts";
import type { ProviderAddress } from "../../address/provider-address.ts";
import type { Version } from "../../address/version.ts";
import { decideByRules, type PolicyDecision } from "../../trust/policy.ts";
import type { ReleaseOrigin } from "../releases/evidence.ts";
import type { ReleaseAddress } from "../releases/release.ts";
import {
  admitVersion,
  type AdmissionRules,
  formatSubject,
} from "./admission-rules.ts";
import {
  describeLeftOut,
  leaveOutDenied,
  type LeftOut,
  type Listed,
} from "./left-out.ts";
import { noteReported, type Notebook, subjectOf } from "./trust-events.ts";
import type { TrustEntry, TrustStore } from "./trust-store.ts";

/** Providers in memory; bounded because clients may request any. */
const providersInMemory = 1_000;

/** Inputs of the decision on one request; each is looked up once and handed down. */
export interface ProviderRequest {
  readonly provider: ProviderAddress;
  readonly origin: ReleaseOrigin;
  /** As they were at the time of the request. */
  readonly rules: AdmissionRules;
  /** Trust entry of its namespace. */
  readonly entry: TrustEntry;
}

/** The same for one version, which the rules alone do not refuse. */
export interface ReleaseRequest extends ProviderRequest {
  readonly address: ReleaseAddress;
  readonly decision: PolicyDecision;
}

/** The rules of the moment, and the trust of the namespace, for each request. */
export class Admission {
  readonly #store: TrustStore;
  readonly #notebook: Notebook;
  readonly #lastLeftOut = new LRUCache<string, string>({
    max: providersInMemory,
  });
  #rules!: AdmissionRules;

  constructor(store: TrustStore, notebook: Notebook, rules: AdmissionRules) {
    this.#store = store;
    this.#notebook = notebook;
    this.replaceRules(rules);
  }

  get rules(): AdmissionRules {
    return this.#rules;
  }

  /** Applies from the next request on, also to cached values. */
  replaceRules(rules: AdmissionRules): void {
    this.#rules =
      rules.mode === "report"
        ? { ...rules, report: (error) => noteReported(this.#notebook, error) }
        : rules;
  }

  /** Looks up the trust of a provider's namespace, for one request. */
  async open(
    provider: ProviderAddress,
    origin: ReleaseOrigin,
  ): Promise<ProviderRequest> {
    const rules = this.#rules;
    const entry = await this.#store.open(provider);
    return { provider, origin, rules, entry };
  }

  /** The same for one version, which the rules alone decide on first. */
  async openVersion(
    address: ReleaseAddress,
    origin: ReleaseOrigin,
  ): Promise<ReleaseRequest> {
    const { provider, version } = address;
    const decision = admitVersion(this.#rules, provider, version);
    const request = await this.open(provider, origin);
    return { ...request, address, decision };
  }

  /** Writes down what an index does not have, or has though the policy would leave it out, once for each change. */
  noteLeftOut(subject: ProviderAddress | ModuleAddress, listed: Listed): void {
    const name = formatSubject(subject);
    const noted = [
      ["refused", listed.leftOut],
      ["reported", listed.reported],
    ] as const;
    for (const [verdict, versions] of noted) {
      const key = `${verdict} ${name}`;
      const detail = describeLeftOut(versions);
      if (this.#lastLeftOut.get(key) === detail) continue;
      this.#lastLeftOut.set(key, detail);
      if (detail === undefined) continue;
      const facts = { ...subjectOf(name), detail };
      const entry = { event: "left-out", verdict, ...facts } as const;
      void this.#notebook.audit.record(entry, { durable: false });
    }
  }
}

/** The versions that may be asked for, and those that the rules deny; both, where the policy only reports. */
export function requestVersions(
  request: ProviderRequest,
  versions: readonly Version[],
) {
  const { provider, rules } = request;
  const allowed: ReleaseRequest[] = [];
  const denied: LeftOut[] = [];
  for (const version of versions) {
    const decision = decideByRules(rules.policy, provider, version);
    if (decision.action === "deny")
      denied.push(leaveOutDenied(version, decision));
    if (decision.action === "allow" || rules.report !== undefined)
      allowed.push({ ...request, address: { provider, version }, decision });
  }
  return { allowed, denied };
}
