import { LRUCache } from "lru-cache";
import {
  formatModuleAddress,
  type ModuleAddress,
} from "../../address/module-address.ts";
import {
  formatProviderAddress,
  type ProviderAddress,
} from "../../address/provider-address.ts";
import { whenKnown } from "../../concurrency/when-known.ts";
import {
  KeyRefused,
  TooYoung,
  type ProvenderError,
} from "../../errors/index.ts";
import type { Release, ReleaseAddress } from "../releases/release.ts";
import type { VersionList } from "../releases/version-list.ts";
import {
  admitVersion,
  decideReleaseKey,
  refuseByPolicy,
  type AdmissionRules,
} from "./admission-rules.ts";
import { noteAcceptedKey, noteLesson, noteRefusedKey } from "./key-notes.ts";
import { contentOf } from "./key-question.ts";
import { describeLeftOut, type LeftOut } from "./left-out.ts";
import type { TrustLedger } from "./ledger.ts";
import { findFall } from "./namespace-trust.ts";
import { noteReported, type Notebook } from "./notebook.ts";
import { decideByAge, type AgeDecision } from "./policy-age.ts";
import { fallenError } from "./release-history.ts";
import type { ProviderRequest, ReleaseRequest, Served } from "./request.ts";

/** Clients may ask for any provider, so memory is bounded. */
const providersInMemory = 1_000;

/** What a list of a provider or module does not have, and what a policy that only reports would leave out of it. */
export interface Listed {
  readonly leftOut: readonly LeftOut[];
  readonly reported: readonly LeftOut[];
}

/** What clients may have of what was verified; asked at the last moment on every path. */
export class Admission {
  readonly #ledger: TrustLedger;
  readonly #notebook: Notebook;
  readonly #toldLeftOut = new LRUCache<string, string>({
    max: providersInMemory,
  });
  readonly #told = new WeakSet<Listed>();
  #rules: AdmissionRules;

  constructor(ledger: TrustLedger, notebook: Notebook, rules: AdmissionRules) {
    this.#ledger = ledger;
    this.#notebook = notebook;
    this.#rules = this.#reporting(rules);
  }

  get rules(): AdmissionRules {
    return this.#rules;
  }

  /** From the next request on, also for what is cached. */
  replaceRules(rules: AdmissionRules): void {
    this.#rules = this.#reporting(rules);
  }

  #reporting(rules: AdmissionRules): AdmissionRules {
    if (rules.mode !== "report") return rules;
    return { ...rules, report: (error) => noteReported(this.#notebook, error) };
  }

  /** Looks up what is known of a provider's namespace, for one request. Throws RecordUnreadable. */
  open(
    provider: ProviderAddress,
    served: Served,
  ): ProviderRequest | Promise<ProviderRequest> {
    return whenKnown(this.#ledger.open(provider), (entry) => ({
      ...served,
      ...{ provider, entry },
    }));
  }

  /** The same for one version, which the rules alone decide on first. Throws PolicyDenied. */
  async openVersion(
    address: ReleaseAddress,
    served: Served,
  ): Promise<ReleaseRequest> {
    const decision = admitVersion(served.rules, address);
    const request = await this.open(address.provider, served);
    return { ...request, address, decision };
  }

  /** Writes down what an index does not have, or has though the policy would leave it out, once for each change. */
  noteLeftOut(
    subject:
      | { readonly provider: ProviderAddress }
      | { readonly module: ModuleAddress },
    listed: Listed,
  ): void {
    if (this.#told.has(listed)) return;
    this.#told.add(listed);
    const named =
      "provider" in subject
        ? { provider: formatProviderAddress(subject.provider) }
        : { module: formatModuleAddress(subject.module) };
    const [name = ""] = Object.values(named);
    const told = [
      ["refused", listed.leftOut],
      ["reported", listed.reported],
    ] as const;
    for (const [verdict, versions] of told) {
      const key = `${verdict} ${name}`;
      const detail = describeLeftOut(versions);
      if (this.#toldLeftOut.get(key) === detail) continue;
      this.#toldLeftOut.set(key, detail);
      if (detail === undefined) continue;
      const facts = { ...named, detail };
      const entry = { event: "left-out", verdict, ...facts } as const;
      void this.#notebook.audit.record(entry, { durable: false });
    }
  }

  /** Key and age. Throws KeyRefused and TooYoung; a refusal is on disk by then. For `untaught` see admitKey. */
  async admitRelease(
    request: ReleaseRequest,
    release: Release,
    list: VersionList | undefined,
    untaught?: ProvenderError,
  ): Promise<void> {
    await this.admitKey(request, release, list, untaught);
    this.admitAge(request, release, list);
  }

  /**
   * The key alone; throws KeyRefused, which is on disk by then, or SignatureRefused
   * for a verdict that fell with the registry's keys. With `untaught`, why first
   * contact could not teach the provider's key, nothing is decided of a key that
   * may be that one: throws it.
   */
  async admitKey(
    request: ReleaseRequest,
    release: Release,
    list: VersionList | undefined,
    untaught?: ProvenderError,
  ): Promise<void> {
    const { address, rules, entry } = request;
    expectStanding(request);
    const verdict = decideReleaseKey(
      rules,
      address,
      release,
      list,
      entry.trust,
    );
    if (verdict.accepted) {
      const { signedBy } = release.checksums;
      const { because } = verdict;
      return noteAcceptedKey(this.#notebook, request, signedBy, because);
    }
    if (untaught !== undefined && verdict.because === "unknown") throw untaught;
    return this.refuseKey(request, release, verdict.because);
  }

  /** Remembers what is held back, so that an operator can decide on it, and throws KeyRefused. */
  async refuseKey(
    request: ReleaseRequest,
    release: Release,
    reason: KeyRefused["reason"],
  ): Promise<never> {
    const offered = contentOf(release);
    await noteRefusedKey(this.#notebook, request, offered, reason);
    throw new KeyRefused(request.address, offered.fingerprint, reason);
  }

  /** What first contact with a provider teaches of its key; false when this release cannot teach, because its own key is not acceptable. */
  async teach(
    request: ReleaseRequest,
    release: Release,
    list: VersionList,
  ): Promise<boolean> {
    const { address, rules, entry } = request;
    const { trust } = entry;
    const verdict = decideReleaseKey(rules, address, release, list, trust);
    if (!verdict.accepted || fallOf(request) !== undefined) return false;
    const { signedBy } = release.checksums;
    await noteLesson(this.#notebook, request, signedBy);
    return true;
  }

  /** The age alone; throws TooYoung, unless the policy only reports. */
  admitAge(
    request: ReleaseRequest,
    release: Release,
    list: VersionList | undefined,
  ): void {
    const age = this.decideAge(request, release, list);
    if (age.old) return;
    const { provider, version } = request.address;
    const young = new TooYoung(
      formatProviderAddress(provider),
      version,
      request.decision.minimumAgeRule,
      age.availableAt,
    );
    refuseByPolicy(request.rules, young);
  }

  /** Whether the version has been public for as long as the rules ask. */
  decideAge(
    { address, decision, rules }: ReleaseRequest,
    { checksums }: Release,
    list: VersionList | undefined,
  ): AgeDecision {
    const entry = list?.versions.get(address.version);
    return decideByAge({
      minimumAge: decision.minimumAge,
      isUnlisted: entry === undefined && !rules.offline,
      signedAt: checksums.signedAt,
      seenAt: entry?.appeared,
      now: this.#notebook.clock.now(),
    });
  }
}

function fallOf({ address, entry }: ReleaseRequest) {
  const { provider, version } = address;
  return findFall(entry.trust, { type: provider.type, version });
}

function expectStanding(request: ReleaseRequest): void {
  const fall = fallOf(request);
  if (fall !== undefined) throw fallenError(request.address, fall.reason);
}
