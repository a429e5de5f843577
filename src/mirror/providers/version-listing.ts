import pLimit from "p-limit";
import {
  formatProviderAddress,
  type ProviderAddress,
} from "../../address/provider-address.ts";
import { newestFirst, type Version } from "../../address/version.ts";
import {
  isOriginFailure,
  NotFound,
  NothingAdmitted,
  ProvenderError,
  TooBusy,
} from "../../errors/index.ts";
import type { Admission, AdmissionRules } from "../trust/admission.ts";
import { type NamespaceTrust } from "../trust/namespace-trust.ts";
import { keepOldEnough } from "../trust/policy-age.ts";
import { decideByRules } from "../trust/policy.ts";
import type { ReleaseAddress } from "../releases/release.ts";
import {
  LookUps,
  type Reason,
  type ReleaseLookup,
} from "./release-look-ups.ts";
import type { VersionList } from "../releases/version-list.ts";

/** Look-ups at once for one listing. */
const atOnce = 8;

/** What the rules and the keys leave of a list. */
interface Trusted {
  readonly versions: readonly Version[];
  /** The same by the minimum age that the rules ask of them, in milliseconds. */
  readonly byMinimumAge: ReadonlyMap<number, readonly Version[]>;
  /** False when the origin has nothing, which is not for the rules to answer for. */
  readonly any: boolean;
}

interface Remembered {
  readonly rules: AdmissionRules;
  /** Weak, since each change makes another, of all providers of the namespace. */
  readonly trust: WeakRef<NamespaceTrust>;
  readonly trusted: Trusted;
}

type Suspicion = "none" | Exclude<Reason, "age">;

type Verdict = "good" | "bad" | "unknown";

/**
 * The versions of `index.json`: what the origin lists, or had listed and is
 * stored, less what would be refused. A version that cannot be served must not
 * be listed, because clients choose before they ask.
 */
export class VersionListing {
  readonly #admission: Admission;
  readonly #lookup: ReleaseLookup;
  readonly #remembered = new WeakMap<VersionList, Remembered>();

  constructor(admission: Admission, lookup: ReleaseLookup) {
    this.#admission = admission;
    this.#lookup = lookup;
  }

  /** Newest first. Throws NothingAdmitted when all are refused, NotFound when all are gone, and the origin's failure when nobody could tell. */
  async list(
    provider: ProviderAddress,
    list: VersionList,
    deadline: number,
  ): Promise<readonly Version[]> {
    const looks = new LookUps(this.#lookup, deadline);
    const trusted = await this.#trusted(provider, list, looks);
    const { any } = trusted;
    const old = await this.#oldEnough(provider, list, trusted, looks);
    if (old.length > 0 || list.versions.size === 0) return old;
    const name = formatProviderAddress(provider);
    if (!any) throw new NotFound(name);
    // An empty list would send clients on to their next installation method.
    throw looks.failure ?? new NothingAdmitted(name);
  }

  /** Less those that the rules deny or whose key is not acceptable; remembered while nothing changes. */
  async #trusted(
    provider: ProviderAddress,
    list: VersionList,
    looks: LookUps,
  ): Promise<Trusted> {
    const { rules, parts } = this.#admission;
    const trust = await parts.ledger.read(provider);
    const remembered = this.#remembered.get(list);
    if (remembered?.rules === rules && remembered.trust.deref() === trust)
      return remembered.trusted;
    const present = await this.#present(provider, list);
    const allowed = this.#admission.takesKeys(provider)
      ? present.filter((version) => isAllowedByRules(rules, provider, version))
      : [];
    const verdicts = await this.#judgeAll(
      provider,
      list,
      allowed,
      trust,
      looks,
    );
    const versions = allowed.filter(
      (version) => (verdicts.get(version) ?? "good") === "good",
    );
    const byMinimumAge = Map.groupBy(
      versions,
      (version) => decideByRules(rules.policy, provider, version).minimumAge,
    );
    const trusted = { versions, byMinimumAge, any: present.length > 0 };
    const isComplete =
      looks.failure === undefined &&
      ![...verdicts.values()].includes("unknown");
    if (isComplete)
      this.#remembered.set(list, { rules, trust: new WeakRef(trust), trusted });
    return trusted;
  }

  async #present(
    provider: ProviderAddress,
    list: VersionList,
  ): Promise<readonly Version[]> {
    const entries = [...list.versions.values()];
    const gone = entries.filter(({ listed }) => !listed);
    const kept = await Promise.all(
      gone.map(({ version }) => this.#lookup.isStored({ provider, version })),
    );
    const present = [
      ...entries.filter(({ listed }) => listed),
      ...gone.filter((_, index) => kept[index]),
    ];
    return newestFirst(present.map(({ version }) => version));
  }

  /** Of the versions that are not above suspicion. */
  async #judgeAll(
    provider: ProviderAddress,
    list: VersionList,
    versions: readonly Version[],
    trust: NamespaceTrust,
    looks: LookUps,
  ): Promise<ReadonlyMap<Version, Verdict>> {
    const limited = this.#admission.limitsKeys(provider, trust);
    const held = listHeld(provider, trust);
    const suspects = versions.flatMap((version) => {
      const reason = findSuspicion(list, version, held, limited);
      return reason === "none" ? [] : [{ version, reason }];
    });
    const learning = this.#lookup.learnKey(provider, list);
    if (suspects.length > 0) looks.untaught = await learning;
    // Without suspects nobody waits for it, and whoever does hears of its failure.
    else learning.catch(() => undefined);
    const verdicts = new Map<Version, Verdict>();
    await pLimit(atOnce).map(suspects, async ({ version, reason }) => {
      const address = { provider, version };
      const verdict = await this.#judge(address, list, reason, looks);
      verdicts.set(version, verdict);
    });
    return verdicts;
  }

  async #judge(
    address: ReleaseAddress,
    list: VersionList,
    suspicion: Exclude<Suspicion, "none">,
    looks: LookUps,
  ): Promise<Verdict> {
    const undecided = suspicion === "new" ? "unknown" : "good";
    try {
      const release = await looks.look(address, suspicion);
      if (release === undefined) return undecided;
      await this.#admission.admitKey(address, release, list, looks.untaught);
      return "good";
    } catch (error) {
      if (!(error instanceof ProvenderError)) throw error;
      if (!couldNotTell(error)) return "bad";
      looks.failure = error;
      return undecided;
    }
  }

  /** Release lines are walked apart for each minimum age, because what is older than an old one may have to be older still. */
  async #oldEnough(
    provider: ProviderAddress,
    list: VersionList,
    { versions, byMinimumAge }: Trusted,
    looks: LookUps,
  ): Promise<readonly Version[]> {
    // The very same list, whose document is kept.
    if (byMinimumAge.keys().every((age) => age === 0)) return versions;
    const old = new Set<Version>();
    for (const [minimumAge, group] of byMinimumAge) {
      const kept =
        minimumAge === 0
          ? group
          : await keepOldEnough(
              this.#longListed(list, group, minimumAge),
              (v) => this.#isOldEnough({ provider, version: v }, list, looks),
            );
      for (const version of kept) old.add(version);
    }
    return versions.filter((version) => old.has(version));
  }

  /** What the mirror itself saw appear too lately needs no look-up. */
  #longListed(
    list: VersionList,
    versions: readonly Version[],
    minimumAge: number,
  ): readonly Version[] {
    const latest = this.#admission.parts.clock.now().getTime() - minimumAge;
    return versions.filter((version) => {
      const appeared = list.versions.get(version)?.appeared;
      return appeared === undefined || appeared.getTime() <= latest;
    });
  }

  async #isOldEnough(
    address: ReleaseAddress,
    list: VersionList,
    looks: LookUps,
  ): Promise<boolean> {
    try {
      const release = await looks.look(address, "age");
      if (release === undefined) return false;
      await this.#admission.admitKey(address, release, list, looks.untaught);
      return this.#admission.isOldEnough(address, release, list);
    } catch (error) {
      if (!(error instanceof ProvenderError)) throw error;
      if (couldNotTell(error)) looks.failure = error;
      return false;
    }
  }
}

function findSuspicion(
  list: VersionList,
  version: Version,
  held: ReadonlySet<string>,
  limited: boolean,
): Suspicion {
  if (list.versions.get(version)?.appeared !== undefined) return "new";
  if (limited) return "unsure";
  return held.has(version) ? "held" : "none";
}

/** The versions of a provider that were refused before. */
function listHeld(
  { type }: ProviderAddress,
  { seen }: NamespaceTrust,
): ReadonlySet<string> {
  const held = [...seen.quarantined, ...seen.fallen];
  const own = held.filter((entry) => entry.type === type);
  return new Set(own.map(({ version }) => version));
}

function couldNotTell(error: ProvenderError): boolean {
  return isOriginFailure(error) || error instanceof TooBusy;
}

function isAllowedByRules(
  { policy }: AdmissionRules,
  provider: ProviderAddress,
  version: Version,
): boolean {
  return decideByRules(policy, provider, version).action === "allow";
}
