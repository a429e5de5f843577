import { formatProviderAddress } from "../address/provider-address.ts";
import type { ProviderAddress } from "../address/provider-address.ts";
import type { Version } from "../address/version.ts";
import { KeyRefused, PolicyDenied, TooYoung } from "../errors.ts";
import type { Alarms } from "../telemetry/alarms.ts";
import type { AuditLog } from "../telemetry/audit-log.ts";
import {
  decideKey,
  type KeyVerdict,
  type NewKeys,
} from "../verification/trust-policy.ts";
import type { Clock } from "./clock.ts";
import { noteAcceptedKey, noteRefusedKey } from "./key-notes.ts";
import {
  isApproved,
  knownKeys,
  revokedKeys,
  type NamespaceTrust,
} from "./namespace-trust.ts";
import { decideByAge } from "./policy-age.ts";
import { isMatch, type ProviderPattern } from "./policy-pattern.ts";
import { decideByRules, findProviderDenial, type Policy } from "./policy.ts";
import { formatRelease, type Release, type ReleaseAddress } from "./release.ts";
import type { TrustLedger } from "./trust-ledger.ts";
import type { VersionList } from "./version-list.ts";

/** `policy` and `trust` of the configuration, ready to be asked. */
export interface AdmissionRules {
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

  /** Rules, key and age. Throws PolicyDenied, KeyRefused and TooYoung; a refusal is on disk by then. */
  async admitRelease(
    address: ReleaseAddress,
    release: Release,
    list: VersionList | undefined,
  ): Promise<void> {
    this.admitVersion(address);
    await this.admitKey(address, release, list);
    this.#admitAge(address, release, list);
  }

  /** How the trust policy decides on a release's key; unsigned ones have none to decide on but where keys are pinned. */
  decideKeyOf(
    { provider, version }: ReleaseAddress,
    { checksums }: Release,
    list: VersionList | undefined,
    trust: NamespaceTrust,
  ): KeyVerdict {
    const { newKeys } = this.#rules;
    const pins = this.#pinsOf(provider);
    const { signedBy, signedAt } = checksums;
    const name = { type: provider.type, version };
    if (signedBy === undefined || signedAt === undefined)
      return pins === undefined && newKeys !== "refuse"
        ? { accepted: true, because: "known" }
        : { accepted: false, because: "not-pinned" };
    const entry = list?.versions.get(version);
    const inFirstList = entry !== undefined && entry.appeared === undefined;
    return decideKey({
      newKeys,
      signedBy,
      signedAt,
      pins,
      known: knownKeys(trust),
      revoked: revokedKeys(trust),
      approved: isApproved(trust, name),
      firstContact: inFirstList ? list?.firstContact : undefined,
    });
  }

  /** True when the version has been public for as long as the rules ask. */
  isOldEnough(
    address: ReleaseAddress,
    release: Release,
    list: VersionList | undefined,
  ): boolean {
    return this.#decideAge(address, release, list).old;
  }

  /** True when some version of the provider must have been public for a time. */
  asksForAge(provider: ProviderAddress, versions: readonly Version[]): boolean {
    const { policy } = this.#rules;
    return versions.some(
      (version) => decideByRules(policy, provider, version).minimumAge > 0,
    );
  }

  /** The key alone; throws KeyRefused, which is on disk by then. */
  async admitKey(
    address: ReleaseAddress,
    release: Release,
    list: VersionList | undefined,
  ): Promise<void> {
    const trust = await this.parts.ledger.read(address.provider);
    const verdict = this.decideKeyOf(address, release, list, trust);
    const { signedBy } = release.checksums;
    if (verdict.accepted) {
      if (signedBy !== undefined)
        await noteAcceptedKey(this.parts, address, signedBy, verdict, trust);
      return;
    }
    const fingerprint = signedBy ?? "none";
    await noteRefusedKey(
      this.parts,
      address,
      fingerprint,
      verdict.because,
      trust,
    );
    throw new KeyRefused(formatRelease(address), fingerprint, verdict.because);
  }

  #admitAge(
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
    const decision = decideByAge({
      minimumAge,
      signedAt: checksums.signedAt,
      seenAt: list?.versions.get(version)?.appeared,
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
