import {
  formatModuleAddress,
  type ModuleAddress,
} from "../../address/module-address.ts";
import { newestFirst, type Version } from "../../address/version.ts";
import { PolicyDenied, TooYoung } from "../../errors/index.ts";
import { refuseByPolicy } from "../trust/admission-rules.ts";
import type { Admission } from "../trust/admission.ts";
import type { Clock } from "../cache/clock.ts";
import type { ModuleReleaseAddress } from "./release.ts";
import {
  leaveOutYoung,
  nothingAdmitted,
  type LeftOut,
} from "../trust/left-out.ts";
import { decideByAge } from "../trust/policy-age.ts";
import {
  decideByRules,
  findProviderDenial,
  type Policy,
} from "../trust/policy.ts";
import type { VersionList } from "../releases/version-list.ts";

/**
 * Which modules clients may have. Nobody signs modules, so there are no keys to judge, and a version's age counts from when the mirror first
 * saw it listed.
 */
export class ModuleAdmission {
  readonly #admission: Admission;
  readonly #clock: Clock;

  constructor(admission: Admission, clock: Clock) {
    this.#admission = admission;
    this.#clock = clock;
  }

  /** Throws PolicyDenied when no version of the module could be allowed. */
  admitModule(module: ModuleAddress): void {
    const rule = findProviderDenial(this.#policy, module);
    const name = formatModuleAddress(module);
    const { rules } = this.#admission;
    if (rule !== undefined)
      refuseByPolicy(rules, new PolicyDenied(name, undefined, rule, "module"));
  }

  /** For hostnames that are not served, of which `policy.default` does not speak; throws PolicyDenied. */
  admitElsewhere(module: ModuleAddress): void {
    const { otherwise } = this.#policy;
    if (findProviderDenial(this.#policy, module) !== otherwise.rule)
      this.admitModule(module);
  }

  /** Throws PolicyDenied and TooYoung. */
  admitRelease(
    address: ModuleReleaseAddress,
    list: VersionList | undefined,
  ): void {
    const { module, version } = address;
    const decision = decideByRules(this.#policy, module, version);
    const name = formatModuleAddress(module);
    const { rules } = this.#admission;
    if (decision.action === "deny") {
      const denied = new PolicyDenied(name, version, decision.rule, "module");
      refuseByPolicy(rules, denied);
    }
    const { minimumAge, minimumAgeRule } = decision;
    const age = this.#decideAge(version, list, minimumAge);
    if (age.old) return;
    const { availableAt } = age;
    const young = new TooYoung(name, version, minimumAgeRule, availableAt);
    refuseByPolicy(rules, young);
  }

  isAdmitted(
    address: ModuleReleaseAddress,
    list: VersionList | undefined,
  ): boolean {
    return this.#findLeftOut(address, list) === undefined;
  }

  /** Newest first. Throws NothingAdmitted when there are versions and clients may have none of them. */
  keepAdmitted(module: ModuleAddress, list: VersionList): readonly Version[] {
    const versions = newestFirst(list.versions.keys());
    const leftOut = versions.flatMap(
      (version) => this.#findLeftOut({ module, version }, list) ?? [],
    );
    if (leftOut.length === versions.length && versions.length > 0)
      throw nothingAdmitted(formatModuleAddress(module), leftOut);
    const out = new Set(leftOut.map(({ version }) => version));
    return versions.filter((version) => !out.has(version));
  }

  #findLeftOut(
    { module, version }: ModuleReleaseAddress,
    list: VersionList | undefined,
  ): LeftOut | undefined {
    if (this.#admission.rules.report !== undefined) return undefined;
    const decision = decideByRules(this.#policy, module, version);
    const { action, rule, minimumAge } = decision;
    if (action === "deny") return { version, kind: "denied", cause: rule };
    const age = this.#decideAge(version, list, minimumAge);
    return age.old ? undefined : leaveOutYoung(version, age.availableAt);
  }

  #decideAge(
    version: Version,
    list: VersionList | undefined,
    minimumAge: number,
  ) {
    const entry = list?.versions.get(version);
    const seenAt = entry && (entry.appeared ?? list?.firstContact);
    const now = this.#clock.now();
    const question = {
      minimumAge,
      isUnlisted: entry === undefined,
      seenAt,
      now,
    };
    return decideByAge({ ...question, signedAt: undefined });
  }

  get #policy(): Policy {
    return this.#admission.rules.policy;
  }
}
