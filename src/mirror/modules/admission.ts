import type { ModuleAddress } from "../../address/module-address.ts";
import { isMatch } from "../../address/policy-pattern.ts";
import { newestFirst, type Version } from "../../address/version.ts";
import { decideByAge } from "../../trust/age.ts";
import { decideByRules, type Policy } from "../../trust/policy.ts";
import {
  type AdmissionRules,
  admitVersion,
  refuseByPolicy,
  youthOf,
} from "../trust/admission-rules.ts";
import {
  divide,
  leaveOutDenied,
  leaveOutYoung,
  type LeftOut,
  type Listed,
} from "../trust/left-out.ts";
import type { VersionList } from "../versions/version-list.ts";
import type { ModuleReleaseAddress } from "./release.ts";

/**
 * Versions of a module that clients may have, newest first, and those left out.
 */
export interface ListedModule extends Listed {
  readonly versions: readonly Version[];
  /** List of the registry; undefined for imported modules. */
  readonly list?: VersionList | undefined;
}

/** True where a rule gives the module an age. */
export function needsDates({ rules }: Policy, module: ModuleAddress): boolean {
  return rules.some(
    ({ pattern, minimumAge }) => minimumAge > 0 && isMatch(pattern, module),
  );
}

/** Decides on a version by the rules alone; throws policy-denied and too-young. */
export function admitModuleVersion(
  rules: AdmissionRules,
  { module, version }: ModuleReleaseAddress,
  list: VersionList | undefined,
  now: Date,
): void {
  const decision = admitVersion(rules, module, version);
  const age = ageOf(version, list, decision.minimumAge, now);
  if (!age.old) refuseByPolicy(rules, youthOf(module, version, decision, age));
}

/** Divides `versions` into admitted and left out; either may be empty. */
export function sortOut(
  { policy, mode }: AdmissionRules,
  module: ModuleAddress,
  versions: Iterable<Version>,
  list: VersionList | undefined,
  now: Date,
): ListedModule {
  const all = newestFirst(versions);
  const refused = all.flatMap((version): LeftOut | [] => {
    const decision = decideByRules(policy, module, version);
    if (decision.action === "deny") return leaveOutDenied(version, decision);
    const age = ageOf(version, list, decision.minimumAge, now);
    return age.old ? [] : leaveOutYoung(version, age);
  });
  const divided = divide(refused, mode === "report");
  const out = new Set(divided.leftOut.map(({ version }) => version));
  return { ...divided, list, versions: all.filter((one) => !out.has(one)) };
}

/**
 * Age counts from what the registry claims and from when the mirror first saw the version listed, whichever is later.
 * What nothing dates was public at first contact at the latest.
 */
function ageOf(
  version: Version,
  list: VersionList | undefined,
  minimumAge: number,
  now: Date,
) {
  const entry = list?.versions.get(version);
  const isUnlisted = entry === undefined;
  return decideByAge(
    { minimumAge, isUnlisted, seenAt: entry?.appeared, now },
    entry?.published ?? list?.firstContact,
  );
}
