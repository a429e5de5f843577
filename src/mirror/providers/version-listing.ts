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
import type { VersionList } from "../releases/version-list.ts";
import {
  limitsKeys,
  takesKeys,
  type AdmissionRules,
} from "../trust/admission-rules.ts";
import type { Admission } from "../trust/admission.ts";
import type { Clock } from "../cache/clock.ts";
import type { NamespaceTrust } from "../trust/namespace-trust.ts";
import { keepOldEnough } from "../trust/policy-age.ts";
import {
  requestVersion,
  type ProviderRequest,
  type ReleaseRequest,
} from "../trust/request.ts";
import type { FirstContactFailure } from "./first-contact.ts";
import type { ProviderCatalog } from "./provider-catalog.ts";
import { LookUps, type Reason } from "./release-look-ups.ts";
import type { StoredReleases } from "./stored-releases.ts";

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

interface VersionListingParts {
  readonly catalog: ProviderCatalog;
  readonly admission: Admission;
  readonly stored: Pick<StoredReleases, "find">;
}

/**
 * The versions of `index.json`: what the origin lists, or had listed and is
 * stored, less what would be refused. A version that cannot be served must not
 * be listed, because clients choose before they ask.
 */
export class VersionListing {
  readonly #parts: VersionListingParts;
  readonly #remembered = new WeakMap<VersionList, Remembered>();

  constructor(parts: VersionListingParts) {
    this.#parts = parts;
  }

  /**
   * Newest first. `learning` resolves when first contact has taught the provider's
   * key, or with why it could not. Throws NothingAdmitted when all are refused,
   * NotFound when all are gone, and the origin's failure when nobody could tell.
   */
  async list(
    request: ProviderRequest,
    list: VersionList,
    learning: Promise<FirstContactFailure>,
    deadline: number,
  ): Promise<readonly Version[]> {
    const looks = new LookUps(this.#parts.catalog, deadline);
    const trusted = await this.#trusted(request, list, learning, looks);
    const { any } = trusted;
    const old = await this.#oldEnough(request, list, trusted, looks);
    if (old.length > 0 || list.versions.size === 0) return old;
    const name = formatProviderAddress(request.provider);
    if (!any) throw new NotFound(name);
    // An empty list would send clients on to their next installation method.
    throw looks.failure ?? new NothingAdmitted(name);
  }

  /** Less those that the rules deny or whose key is not acceptable; remembered while nothing changes. */
  async #trusted(
    request: ProviderRequest,
    list: VersionList,
    learning: Promise<FirstContactFailure>,
    looks: LookUps,
  ): Promise<Trusted> {
    const { provider, rules, entry } = request;
    const { trust } = entry;
    const remembered = this.#remembered.get(list);
    if (remembered?.rules === rules && remembered.trust.deref() === trust)
      return remembered.trusted;
    const present = await this.#present(provider, list);
    const allowed = takesKeys(rules, provider)
      ? present.flatMap((version) => requestVersion(request, version) ?? [])
      : [];
    const verdicts = await this.#judgeAll(
      request,
      list,
      allowed,
      learning,
      looks,
    );
    const good = allowed.filter(
      ({ address: { version } }) =>
        (verdicts.get(version) ?? "good") === "good",
    );
    const versions = good.map(({ address }) => address.version);
    const byMinimumAge = groupByAge(good);
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
      gone.map(({ version }) => this.#parts.stored.find({ provider, version })),
    );
    const present = [
      ...entries.filter(({ listed }) => listed),
      ...gone.filter((_, index) => kept[index] === "stored"),
    ];
    return newestFirst(present.map(({ version }) => version));
  }

  /** Of the versions that are not above suspicion. */
  async #judgeAll(
    request: ProviderRequest,
    list: VersionList,
    allowed: readonly ReleaseRequest[],
    learning: Promise<FirstContactFailure>,
    looks: LookUps,
  ): Promise<ReadonlyMap<Version, Verdict>> {
    const { provider, rules, entry } = request;
    const { trust } = entry;
    const limited = limitsKeys(rules, provider, trust);
    const held = listHeld(provider, trust);
    const suspects = allowed.flatMap((one) => {
      const { version } = one.address;
      const reason = findSuspicion(list, version, held, limited);
      return reason === "none" ? [] : [{ one, reason }];
    });
    if (suspects.length > 0) looks.untaught = await learning;
    const verdicts = new Map<Version, Verdict>();
    await pLimit(atOnce).map(suspects, async ({ one, reason }) => {
      const verdict = await this.#judge(one, list, reason, looks);
      verdicts.set(one.address.version, verdict);
    });
    return verdicts;
  }

  async #judge(
    request: ReleaseRequest,
    list: VersionList,
    suspicion: Exclude<Suspicion, "none">,
    looks: LookUps,
  ): Promise<Verdict> {
    const undecided = suspicion === "new" ? "unknown" : "good";
    try {
      const release = await looks.look(request, suspicion);
      if (release === undefined) return undecided;
      const { admission } = this.#parts;
      await admission.admitKey(request, release, list, looks.untaught);
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
    request: ProviderRequest,
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
              longListed(list, group, minimumAge, request.origin.clock),
              (version) => this.#isOldEnough(request, version, list, looks),
            );
      for (const version of kept) old.add(version);
    }
    return versions.filter((version) => old.has(version));
  }

  async #isOldEnough(
    request: ProviderRequest,
    version: Version,
    list: VersionList,
    looks: LookUps,
  ): Promise<boolean> {
    const { admission } = this.#parts;
    const one = requestVersion(request, version);
    if (one === undefined) return false;
    try {
      const release = await looks.look(one, "age");
      if (release === undefined) return false;
      await admission.admitKey(one, release, list, looks.untaught);
      return admission.decideAge(one, release, list).old;
    } catch (error) {
      if (!(error instanceof ProvenderError)) throw error;
      if (couldNotTell(error)) looks.failure = error;
      return false;
    }
  }
}

function groupByAge(
  requests: readonly ReleaseRequest[],
): ReadonlyMap<number, readonly Version[]> {
  const groups = new Map<number, Version[]>();
  for (const { address, decision } of requests) {
    const group = groups.get(decision.minimumAge);
    if (group === undefined) groups.set(decision.minimumAge, [address.version]);
    else group.push(address.version);
  }
  return groups;
}

/** What the mirror itself saw appear too lately needs no look-up. */
function longListed(
  list: VersionList,
  versions: readonly Version[],
  minimumAge: number,
  clock: Clock,
): readonly Version[] {
  const latest = clock.now().getTime() - minimumAge;
  return versions.filter((version) => {
    const appeared = list.versions.get(version)?.appeared;
    return appeared === undefined || appeared.getTime() <= latest;
  });
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
