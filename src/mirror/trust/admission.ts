import { formatProviderAddress } from "../../address/provider-address.ts";
import type { ProviderAddress } from "../../address/provider-address.ts";
import type { Version } from "../../address/version.ts";
import {
  KeyRefused,
  PolicyDenied,
  TooYoung,
  type ProvenderError,
} from "../../errors/index.ts";
import type { Alarms } from "../../telemetry/alarms.ts";
import type { AuditLog } from "../../telemetry/audit-log.ts";
import {
  decideKey,
  type KeyVerdict,
  type NewKeys,
} from "../../verification/trust-policy.ts";
import type { Clock } from "../cache/clock.ts";
import { askOfKey, contentOf } from "./key-question.ts";
import { noteAcceptedKey, noteLesson, noteRefusedKey } from "./key-notes.ts";
import {
  findFall,
  findLesson,
  revokedKeys,
  type NamespaceTrust,
} from "./namespace-trust.ts";
import { decideByAge } from "./policy-age.ts";
import { isMatch, type ProviderPattern } from "./policy-pattern.ts";
import { decideByRules, findProviderDenial, type Policy } from "./policy.ts";
import { type Release, type ReleaseAddress } from "../releases/release.ts";
import type { TrustLedger } from "./ledger.ts";
import { fallenError } from "./release-history.ts";
import type { VersionList } from "../releases/version-list.ts";

/** `policy` and `trust` of the configuration, ready to be asked. */
export interface AdmissionRules {
  /** No list will ever be had, so that the signature alone dates what was imported. */
  readonly offline: boolean;
  readonly policy: Policy;
  readonly newKeys: NewKeys;
  readonly pins: readonly {
    readonly pattern: ProviderPattern;
    readonly fingerprints: readonly string[];
  }[];
}

export interface AdmissionParts {
  readonly ledger: TrustLedger;
  readonly audit: AuditLog;
  readonly alarms: Alarms;
  readonly clock: Clock;
}

/** What clients may have of what was verified; asked at the last moment on every path. */
export class Admission {
  readonly parts: AdmissionParts;
  #rules: AdmissionRules;

  constructor(parts: AdmissionParts, rules: AdmissionRules) {
    this.parts = parts;
    this.#rules = rules;
  }

  get rules(): AdmissionRules {
    return this.#rules;
  }

  /** From the next request on, also for what is cached. */
  replaceRules(rules: AdmissionRules): void {
    this.#rules = rules;
  }

  /** Throws PolicyDenied when no version of the provider could be allowed. */
  admitProvider(provider: ProviderAddress): void {
    const rule = findProviderDenial(this.#rules.policy, provider);
    if (rule !== undefined)
      throw new PolicyDenied(formatProviderAddress(provider), undefined, rule);
  }

  /** For hostnames that are not served, of which `policy.default` does not speak; throws PolicyDenied. */
  admitElsewhere(provider: ProviderAddress): void {
    const { policy } = this.#rules;
    if (findProviderDenial(policy, provider) !== policy.otherwise.rule)
      this.admitProvider(provider);
  }

  /** False when no signing key of the provider could be acceptable. */
  takesKeys(provider: ProviderAddress): boolean {
    return (
      this.#rules.newKeys !== "refuse" || this.#pinsOf(provider) !== undefined
    );
  }

  /** True when only some keys are acceptable for the provider, whatever it was signed with before. */
  limitsKeys(provider: ProviderAddress, trust: NamespaceTrust): boolean {
    return (
      this.#rules.newKeys === "refuse" ||
      this.#pinsOf(provider) !== undefined ||
      revokedKeys(trust, provider.type).size > 0
    );
  }

  /** What the rules alone decide, before anything is asked; throws PolicyDenied. */
  admitVersion({ provider, version }: ReleaseAddress): void {
    const decision = decideByRules(this.#rules.policy, provider, version);
    if (decision.action === "deny")
      throw new PolicyDenied(
        formatProviderAddress(provider),
        version,
        decision.rule,
      );
  }

  /** True when the rules alone do not deny the version. */
  allows({ provider, version }: ReleaseAddress): boolean {
    return (
      decideByRules(this.#rules.policy, provider, version).action === "allow"
    );
  }

  /** Rules, key and age. Throws PolicyDenied, KeyRefused and TooYoung; a refusal is on disk by then. For `untaught` see admitKey. */
  async admitRelease(
    address: ReleaseAddress,
    release: Release,
    list: VersionList | undefined,
    untaught?: ProvenderError,
  ): Promise<void> {
    this.admitVersion(address);
    await this.admitKey(address, release, list, untaught);
    this.admitAge(address, release, list);
  }

  /** How the trust policy decides on a release's key. */
  decideKeyOf(
    address: ReleaseAddress,
    release: Release,
    list: VersionList | undefined,
    trust: NamespaceTrust,
  ): KeyVerdict {
    const { newKeys } = this.#rules;
    const pins = this.#pinsOf(address.provider);
    const { exemption } = release.checksums;
    const isOptional = pins === undefined && newKeys !== "refuse";
    // Where the operator wants no signatures, there are no keys to hold against one another.
    if (exemption === "signatures-off" && isOptional)
      return { accepted: true, because: "known" };
    const known = askOfKey(address, release, list, trust);
    return decideKey({ ...known, newKeys, pins });
  }

  /** What first contact with a provider teaches of its key; false when this release cannot teach, because its own key is not acceptable. */
  async teach(
    address: ReleaseAddress,
    release: Release,
    list: VersionList,
  ): Promise<boolean> {
    const { provider, version } = address;
    const trust = await this.parts.ledger.read(provider);
    const verdict = this.decideKeyOf(address, release, list, trust);
    const hasFallen = findFall(trust, { type: provider.type, version });
    if (!verdict.accepted || hasFallen) return false;
    const { signedBy } = release.checksums;
    await noteLesson(this.parts, address, signedBy, trust);
    return true;
  }

  /** True once first contact with the provider has taught who signs it. */
  async isTaught(provider: ProviderAddress): Promise<boolean> {
    const trust = await this.parts.ledger.read(provider);
    return findLesson(trust, provider.type) !== undefined;
  }

  /** True when the version has been public for as long as the rules ask. */
  isOldEnough(
    address: ReleaseAddress,
    release: Release,
    list: VersionList | undefined,
  ): boolean {
    return this.#decideAge(address, release, list).old;
  }

  /** Milliseconds that this version must have been public. */
  minimumAgeOf(provider: ProviderAddress, version: Version): number {
    return decideByRules(this.#rules.policy, provider, version).minimumAge;
  }

  /**
   * The key alone; throws KeyRefused, which is on disk by then, or SignatureRefused
   * for a verdict that fell with the registry's keys. With `untaught`, why first
   * contact could not teach the provider's key, nothing is decided of a key that
   * may be that one: throws it.
   */
  async admitKey(
    address: ReleaseAddress,
    release: Release,
    list: VersionList | undefined,
    untaught?: ProvenderError,
  ): Promise<void> {
    const trust = await this.parts.ledger.read(address.provider);
    expectStanding(address, trust);
    const verdict = this.decideKeyOf(address, release, list, trust);
    if (verdict.accepted) {
      const { signedBy } = release.checksums;
      const { because } = verdict;
      return noteAcceptedKey(this.parts, address, signedBy, because, trust);
    }
    if (untaught !== undefined && verdict.because === "unknown") throw untaught;
    return this.refuseKey(address, release, verdict.because, trust);
  }

  /** Remembers what is held back, so that an operator can decide on it, and throws KeyRefused. */
  async refuseKey(
    address: ReleaseAddress,
    release: Release,
    reason: KeyRefused["reason"],
    trust: NamespaceTrust,
  ): Promise<never> {
    const offered = contentOf(release);
    await noteRefusedKey(this.parts, address, offered, reason, trust);
    const { fingerprint } = offered;
    throw new KeyRefused(address, fingerprint, reason);
  }

  /** The age alone; throws TooYoung. */
  admitAge(
    address: ReleaseAddress,
    release: Release,
    list: VersionList | undefined,
  ): void {
    const decision = this.#decideAge(address, release, list);
    if (!decision.old)
      throw new TooYoung(
        formatProviderAddress(address.provider),
        address.version,
        decision.rule,
        decision.availableAt,
      );
  }

  #decideAge(
    { provider, version }: ReleaseAddress,
    { checksums }: Release,
    list: VersionList | undefined,
  ) {
    const { minimumAge, minimumAgeRule } = decideByRules(
      this.#rules.policy,
      provider,
      version,
    );
    const entry = list?.versions.get(version);
    const decision = decideByAge({
      minimumAge,
      isUnlisted: entry === undefined && !this.#rules.offline,
      signedAt: checksums.signedAt,
      seenAt: entry?.appeared,
      now: this.parts.clock.now(),
    });
    return { ...decision, rule: minimumAgeRule };
  }

  #pinsOf(provider: ProviderAddress): ReadonlySet<string> | undefined {
    const matching = this.#rules.pins.filter(({ pattern }) =>
      isMatch(pattern, provider),
    );
    return matching.length === 0
      ? undefined
      : new Set(matching.flatMap(({ fingerprints }) => fingerprints));
  }
}

function expectStanding(address: ReleaseAddress, trust: NamespaceTrust): void {
  const { provider, version } = address;
  const fall = findFall(trust, { type: provider.type, version });
  if (fall !== undefined) throw fallenError(address, fall.reason);
}
