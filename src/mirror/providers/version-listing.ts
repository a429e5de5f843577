import pLimit from "p-limit";
import {
  formatProviderAddress,
  type ProviderAddress,
} from "../../address/provider-address.ts";
import { newestFirst, type Version } from "../../address/version.ts";
import { NotFound, ProvenderError } from "../../errors/index.ts";
import type { ArchiveCache } from "../cache/archive-cache.ts";
import type { VersionList } from "../releases/version-list.ts";
import {
  limitsKeys,
  takesKeys,
  type AdmissionRules,
} from "../trust/admission-rules.ts";
import type { Admission } from "../trust/admission.ts";
import { isMadeAgain } from "../trust/key-question.ts";
import type { NamespaceTrust } from "../trust/namespace-trust.ts";
import {
  divide,
  leaveOutRefused,
  nothingAdmitted,
  type LeftOut,
} from "../trust/left-out.ts";
import {
  requestVersions,
  type ProviderRequest,
  type ReleaseRequest,
} from "../trust/request.ts";
import type { Listing } from "./admitted.ts";
import type { FirstContactFailure } from "./first-contact.ts";
import type { ProviderCatalog } from "./provider-catalog.ts";
import { LookUps, type Reason } from "./release-look-ups.ts";
import { findStored } from "./stored-releases.ts";
import { couldNotTell, keepOld, type JudgedVersions } from "./version-ages.ts";

/** Look-ups at once for one listing. */
const atOnce = 8;

/** What the rules and the keys leave of a list. */
interface Trusted extends JudgedVersions {
  /** The versions by the minimum age that the rules ask of them, in milliseconds. */
  readonly byMinimumAge: ReadonlyMap<number, readonly Version[]>;
  /** False when the origin has nothing, which is not for the rules to answer for. */
  readonly any: boolean;
}

interface Remembered {
  readonly rules: AdmissionRules;
  /** Weak, since each change makes another, of all providers of the namespace. */
  readonly trust: WeakRef<NamespaceTrust>;
  readonly trusted: Trusted;
  /** Undefined as long as what is listed depends on the time. */
  listing?: Listing;
}

type Suspicion = "none" | Exclude<Reason, "age">;

type Verdict = "good" | "unknown" | LeftOut;

interface VersionListingParts {
  readonly catalog: ProviderCatalog;
  readonly admission: Admission;
  readonly archives: Pick<ArchiveCache, "findSize">;
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
   * Newest first, and the same object while neither the rules, nor what is known
   * of the keys, nor time makes another of it. `learning` resolves when first
   * contact has taught the provider's key, or with why it could not. Throws NothingAdmitted when all are refused,
   * NotFound when all are gone, and the origin's failure when nobody could tell.
   */
  list(
    request: ProviderRequest,
    list: VersionList,
    learning: Promise<FirstContactFailure>,
    deadline: number,
  ): Listing | Promise<Listing> {
    return (
      this.#recall(request, list)?.listing ??
      this.#list(request, list, learning, deadline)
    );
  }

  async #list(
    request: ProviderRequest,
    list: VersionList,
    learning: Promise<FirstContactFailure>,
    deadline: number,
  ): Promise<Listing> {
    const looks = new LookUps(this.#parts.catalog, deadline);
    const trusted = await this.#trusted(request, list, learning, looks);
    const { admission } = this.#parts;
    const looking = { list, looks };
    const judged = await keepOld(admission, request, looking, trusted);
    const { versions, refused } = judged;
    const isReporting = request.rules.report !== undefined;
    if (versions.length > 0 || list.versions.size === 0) {
      const listing = { versions, ...divide(refused, isReporting) };
      const remembered = this.#recall(request, list);
      if (remembered?.trusted === judged) remembered.listing = listing;
      return listing;
    }
    const name = formatProviderAddress(request.provider);
    if (!trusted.any) throw new NotFound(name);
    // An empty list would send clients on to their next installation method.
    throw looks.failure ?? nothingAdmitted(name, refused);
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
    const remembered = this.#recall(request, list);
    if (remembered !== undefined) return remembered.trusted;
    const present = await this.#present(provider, list);
    const { allowed, denied } = requestVersions(request, present);
    const verdicts = takesKeys(rules, provider)
      ? await this.#judgeAll(request, list, allowed, learning, looks)
      : new Map(allowed.map(refuseUnlooked));
    const verdictOf = ({ address: { version } }: ReleaseRequest): Verdict =>
      verdicts.get(version) ?? "good";
    const good = allowed.filter((one) => verdictOf(one) === "good");
    const held = allowed.flatMap((one) => leftOutBy(one, verdictOf(one)));
    const trusted = {
      versions: good.map(({ address }) => address.version),
      refused: [...denied, ...held],
      byMinimumAge: groupByAge(good),
      any: present.length > 0,
    };
    const isComplete =
      looks.failure === undefined &&
      ![...verdicts.values()].includes("unknown");
    if (isComplete)
      this.#remembered.set(list, { rules, trust: new WeakRef(trust), trusted });
    return trusted;
  }

  #recall(
    { rules, entry }: ProviderRequest,
    list: VersionList,
  ): Remembered | undefined {
    const remembered = this.#remembered.get(list);
    return remembered?.rules === rules &&
      remembered.trust.deref() === entry.trust
      ? remembered
      : undefined;
  }

  async #present(
    provider: ProviderAddress,
    list: VersionList,
  ): Promise<readonly Version[]> {
    const entries = [...list.versions.values()];
    const gone = entries.filter(({ listed }) => !listed);
    const kept = await Promise.all(
      gone.map(({ version }) => findStored(this.#parts, provider, version)),
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
    const limited =
      limitsKeys(rules, provider, trust) ||
      isMadeAgain(trust, provider.type, list);
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
      if (!couldNotTell(error))
        return leaveOutRefused(request.address.version, error);
      looks.failure = error;
      return undecided;
    }
  }
}

function refuseUnlooked({
  address: { version },
}: ReleaseRequest): [Version, Verdict] {
  return [version, leaveOutRefused(version, undefined)];
}

function leftOutBy(
  { address: { version } }: ReleaseRequest,
  verdict: Verdict,
): readonly LeftOut[] {
  if (verdict === "good") return [];
  return [
    verdict === "unknown" ? leaveOutRefused(version, undefined) : verdict,
  ];
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
