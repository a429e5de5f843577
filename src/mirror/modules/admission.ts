import {
  formatModuleAddress,
  type ModuleAddress,
} from "../../address/module-address.ts";
import { isMatch } from "../../address/policy-pattern.ts";
import { newestFirst, type Version } from "../../address/version.ts";
import { failure } from "../../errors/index.ts";
import { denied, refuseByPolicy } from "../trust/admission-rules.ts";
import type { Admission, Listed } from "../trust/admission.ts";
import type { Clock } from "../cache/clock.ts";
import type { ModuleReleaseAddress } from "./release.ts";
import {
  divide,
  leaveOutDenied,
  leaveOutYoung,
  nothingAdmitted,
  type LeftOut,
} from "../trust/left-out.ts";
import { decideByAge } from "../../trust/age.ts";
import {
  decideByRules,
  findProviderDenial,
  type Policy,
} from "../../trust/policy.ts";
import type { VersionList } from "../versions/version-list.ts";

/**
 * Versions of a module that clients may have, newest first, and those left out.
 */
export interface ListedModule extends Listed {
  readonly versions: readonly Version[];
  /** List of the registry; undefined for imported modules. */
  readonly list?: VersionList | undefined;
}

/**
 * Decides on modules that clients may have, by the rules alone. Where one gives them an age, it counts from what the registry claims and
 * from when the mirror first saw the version listed, whichever is later.
 */
export class ModuleAdmission {
  readonly #admission: Admission;
  readonly #clock: Clock;

  constructor(admission: Admission, clock: Clock) {
    this.#admission = admission;
    this.#clock = clock;
  }

  admitModule(module: ModuleAddress): void {
    const denial = findProviderDenial(this.#policy, module);
    const name = formatModuleAddress(module);
    if (denial !== undefined)
      refuseByPolicy(this.#admission.rules, denied(name, undefined, denial));
  }

  /** Admits hostnames that are not served, to which `policy.default` does not apply. */
  admitElsewhere(module: ModuleAddress): void {
    const { otherwise } = this.#policy;
    if (findProviderDenial(this.#policy, module) !== otherwise)
      this.admitModule(module);
  }

  needsDates(module: ModuleAddress): boolean {
    return this.#policy.rules.some(
      ({ pattern, minimumAge }) => minimumAge > 0 && isMatch(pattern, module),
    );
  }

  admitRelease(
    address: ModuleReleaseAddress,
    list: VersionList | undefined,
  ): void {
    const { module, version } = address;
    const decision = decideByRules(this.#policy, module, version);
    const name = formatModuleAddress(module);
    const { rules } = this.#admission;
    if (decision.action === "deny")
      refuseByPolicy(rules, denied(name, version, decision));
    const { minimumAge, minimumAgeRule, guidance } = decision;
    const age = this.#decideAge(version, list, minimumAge);
    if (age.old) return;
    const young = failure(
      ...(["too-young", name, version, minimumAgeRule] as const),
      ...([age.availableAt, false, guidance] as const),
    );
    refuseByPolicy(rules, young);
  }

  /** Returns the admitted versions and records those left out. */
  keepAdmitted(module: ModuleAddress, list: VersionList): ListedModule {
    const listed = this.sortOut(module, list.versions.keys(), list);
    const { versions, leftOut } = listed;
    const name = formatModuleAddress(module);
    this.#admission.noteLeftOut({ module }, listed);
    if (versions.length === 0 && leftOut.length > 0)
      throw nothingAdmitted(name, leftOut);
    return listed;
  }

  /** Divides `versions` into admitted and left out; either may be empty. */
  sortOut(
    module: ModuleAddress,
    versions: Iterable<Version>,
    list: VersionList | undefined,
  ): ListedModule {
    const all = newestFirst(versions);
    const refused = all.flatMap(
      (version) => this.#findRefused({ module, version }, list) ?? [],
    );
    const { mode } = this.#admission.rules;
    const divided = divide(refused, mode === "report");
    const out = new Set(divided.leftOut.map(({ version }) => version));
    return { ...divided, list, versions: all.filter((one) => !out.has(one)) };
  }

  #findRefused(
    { module, version }: ModuleReleaseAddress,
    list: VersionList | undefined,
  ): LeftOut | undefined {
    const decision = decideByRules(this.#policy, module, version);
    const { action, minimumAge } = decision;
    if (action === "deny") return leaveOutDenied(version, decision);
    const age = this.#decideAge(version, list, minimumAge);
    return age.old ? undefined : leaveOutYoung(version, age);
  }

  #decideAge(
    version: Version,
    list: VersionList | undefined,
    minimumAge: number,
  ) {
    const entry = list?.versions.get(version);
    const terms = {
      ...{ minimumAge, isUnlisted: entry === undefined },
      ...{ seenAt: entry?.appeared, now: this.#clock.now() },
    };
    // What nothing dates was public at first contact at the latest.
    return decideByAge(terms, entry?.published ?? list?.firstContact);
  }

  get #policy(): Policy {
    return this.#admission.rules.policy;
  }
}
