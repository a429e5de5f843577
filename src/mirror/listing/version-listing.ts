import pLimit from "p-limit";
import { formatProviderAddress } from "../../address/provider-address.ts";
import { newestFirst, type Version } from "../../address/version.ts";
import { failure } from "../../errors/index.ts";
import type { Alarms } from "../../telemetry/alarms.ts";
import type { Archives } from "../archives/archives.ts";
import type { ReleaseRecords } from "../releases/records.ts";
import { limitVersions, type VersionList } from "../versions/version-list.ts";
import { type AdmissionRules, limitsKeys } from "../trust/admission-rules.ts";
import { divide, type LeftOut, nothingAdmitted } from "../trust/left-out.ts";
import {
  type ProviderRequest,
  type ReleaseRequest,
  requestVersion,
  requestVersions,
} from "../trust/request.ts";
import {
  groupByAge,
  type JudgedVersions,
  keepOld,
  LookUps,
} from "./version-ages.ts";
import { listVanishing, type Refusals } from "../standings/refused-versions.ts";
import type { Standings } from "../standings/standings.ts";
import { isStored } from "../standings/stored-releases.ts";
import {
  asLeftOut,
  findSuspicion,
  isPhantom,
  isWaiting,
  judgeVersion,
  leftOutBy,
  type Verdict,
  withoutPhantoms,
} from "./version-verdict.ts";
import type { NamespaceTrust } from "../../trust/state.ts";
import { LRUCache } from "lru-cache";
import { formatRelease } from "../releases/release.ts";

/** Versions of a provider that clients may have, newest first, and the others. */
export interface Listing {
  readonly versions: readonly Version[];
  readonly leftOut: readonly LeftOut[];
  /** Versions that a policy would leave out, were it not only to report. */
  readonly reported: readonly LeftOut[];
}

/** Look-ups at once for one listing. */
const atOnce = 8;
/** Milliseconds for a list of versions with all look-ups that it needs; clients give metadata 10 s. */
const listingTime = 7_000;

/** A list less what the rules and the keys refuse. */
interface Trusted extends JudgedVersions {
  /** The versions by the minimum age that the rules ask of them, in milliseconds. */
  readonly byMinimumAge: ReadonlyMap<number, readonly Version[]>;
  /** False when the origin has nothing, which is not for the rules to answer for. */
  readonly any: boolean;
  /** Listed ones without documents, which may come. */
  readonly phantoms: readonly ReleaseRequest[];
}

interface Remembered {
  /** State in which the judging began. */
  readonly state: ListingState;
  readonly trusted: Trusted;
  /** Undefined as long as what is listed depends on the time. */
  listing?: Listing;
}

interface VersionListingParts {
  readonly standings: Standings;
  readonly archives: Pick<Archives, "findSize">;
  readonly releases: Pick<ReleaseRecords, "list">;
  readonly alarms: Pick<Alarms, "raise">;
}

/**
 * The versions of `index.json`: those that the origin lists, or had listed and are
 * stored, less those that would be refused. A version that cannot be served must
 * not be listed, because clients choose before they ask.
 */
export class VersionListing {
  readonly #parts: VersionListingParts;
  readonly #background: BackgroundLooks;
  readonly #remembered = new WeakMap<VersionList, Remembered>();
  readonly #running: RunningJudgings<Listing> = new Map();

  constructor(parts: VersionListingParts) {
    this.#parts = parts;
    this.#background = new BackgroundLooks(parts.standings);
  }

  /** Newest first, and the same object while neither the rules, nor decisions, nor time makes another of it. */
  async list(request: ProviderRequest, list: VersionList): Promise<Listing> {
    const { standings } = this.#parts;
    const state = await readState(standings, request);
    const known = this.#recall(list, state);
    if (known?.listing !== undefined) {
      this.#lookAgain(list, known.trusted.phantoms);
      return known.listing;
    }
    const looks = new LookUps(standings, performance.now() + listingTime);
    return shareJudging(this.#running, list, state, () =>
      this.#judge(request, list, looks, state),
    );
  }

  async #judge(
    request: ProviderRequest,
    list: VersionList,
    looks: LookUps,
    state: ListingState,
  ): Promise<Listing> {
    const trusted = await this.#trusted(request, list, looks, state);
    const judged = await keepOld(request, { list, looks }, trusted);
    const { versions, refused } = judged;
    const isReporting = request.rules.report !== undefined;
    if (versions.length > 0) {
      const listing = { versions, ...divide(refused, isReporting) };
      const remembered = this.#remembered.get(list);
      if (remembered?.trusted === judged) remembered.listing = listing;
      return listing;
    }
    if (!trusted.any && list.versions.size === 0)
      return { versions, leftOut: [], reported: [] };
    const name = formatProviderAddress(request.provider);
    if (!trusted.any) throw failure("not-found", name);
    // An empty list would send clients on to their next installation method.
    throw looks.failure ?? nothingAdmitted(name, refused);
  }

  /** The versions on record of which an archive is stored, on a mirror that asks no origin. */
  async listStored(
    request: ProviderRequest,
    list: VersionList | undefined,
    kept: readonly Version[],
  ): Promise<Listing> {
    const looks = new LookUps(this.#parts.standings, 0);
    const { allowed, denied } = requestVersions(request, newestFirst(kept));
    const verdicts = await pLimit(atOnce).map(allowed, (one) =>
      judgeVersion(one, "unsure", looks),
    );
    const refused = [...denied, ...verdicts.flatMap(asLeftOut)];
    const good = allowed.filter((_, index) => verdicts[index] === "good");
    const stored = await pLimit(atOnce).map(good, (one) =>
      isStored(this.#parts, one),
    );
    const versions = good
      .filter((_, index) => stored[index])
      .map(({ address }) => address.version);
    const name = formatProviderAddress(request.provider);
    if (versions.length === 0)
      throw refused.length > 0
        ? nothingAdmitted(name, refused)
        : failure("not-stored", name);
    const limited = limitVersions(list, new Set(versions));
    const looking = { list: limited, looks };
    const byMinimumAge = groupByAge(good);
    const trusted = { versions, refused, byMinimumAge };
    const judged = await keepOld(request, looking, trusted);
    const isReporting = request.rules.report !== undefined;
    return {
      versions: judged.versions,
      ...divide(judged.refused, isReporting),
    };
  }

  /**
   * Returns the versions that the rules allow and whose key is acceptable;
   * remembered while nothing changes.
   */
  async #trusted(
    request: ProviderRequest,
    list: VersionList,
    looks: LookUps,
    state: ListingState,
  ): Promise<Trusted> {
    const remembered = this.#recall(list, state);
    if (remembered !== undefined) {
      this.#lookAgain(list, remembered.trusted.phantoms);
      return remembered.trusted;
    }
    const present = await this.#present(request, list);
    const { allowed, denied } = requestVersions(request, present);
    const judged =
      allowed.length === 0
        ? new Map<Version, Verdict>()
        : await this.#judgeAll(request, list, allowed, looks);
    const verdicts = await this.#keepVanishing(request, allowed, judged);
    const verdictOf = ({ address: { version } }: ReleaseRequest): Verdict =>
      verdicts.get(version) ?? "good";
    const good = allowed.filter((one) => verdictOf(one) === "good");
    const trusted = {
      versions: good.map(({ address }) => address.version),
      refused: [
        ...denied,
        ...allowed.flatMap((one) => leftOutBy(one, verdictOf(one))),
      ],
      byMinimumAge: groupByAge(good),
      any: present.length > 0,
      phantoms: allowed.filter(({ address: { version } }) =>
        isPhantom(judged.get(version)),
      ),
    };
    const isComplete =
      looks.failure === undefined &&
      ![...verdicts.values()].includes("unknown");
    if (isComplete) this.#remembered.set(list, { state, trusted });
    return trusted;
  }

  #recall(list: VersionList, state: ListingState): Remembered | undefined {
    const remembered = this.#remembered.get(list);
    return remembered !== undefined && isSame(remembered.state, state)
      ? remembered
      : undefined;
  }

  /** Listed now, or stored: a release outlives its removal, and one of a bundle needs no list. */
  async #present(
    request: ProviderRequest,
    list: VersionList,
  ): Promise<readonly Version[]> {
    const isListed = (version: Version) => list.versions.get(version)?.listed;
    const recorded = await this.#parts.releases.list(request.provider);
    const gone = recorded.filter((version) => !isListed(version));
    const kept = await pLimit(atOnce).map(gone, async (version) => {
      const one = requestVersion(request, version);
      return one !== undefined && (await isStored(this.#parts, one));
    });
    const listed = [...list.versions.keys()].filter(isListed);
    return newestFirst([...listed, ...gone.filter((_, index) => kept[index])]);
  }

  /** Judges the versions that are not above suspicion. */
  async #judgeAll(
    request: ProviderRequest,
    list: VersionList,
    allowed: readonly ReleaseRequest[],
    looks: LookUps,
  ): Promise<ReadonlyMap<Version, Verdict>> {
    const { provider, rules, entry } = request;
    const { standings } = this.#parts;
    const contact = await standings.meet(request);
    const isLimited = limitsKeys(rules, provider, entry.trust);
    const refused = await standings.listRefused(request);
    const verdicts = new Map<Version, Verdict>();
    await pLimit(atOnce).map(allowed, async (one) => {
      const { version } = one.address;
      const reason = findSuspicion(version, contact, refused, isLimited);
      if (reason === undefined) return;
      const verdict = await judgeVersion(one, reason, looks);
      verdicts.set(version, verdict);
    });
    const isWaitingFor = ({ address: { version } }: ReleaseRequest) =>
      isWaiting(verdicts.get(version));
    this.#lookAgain(list, allowed.filter(isWaitingFor));
    return verdicts;
  }

  /** Keeps listing versions for which a failing origin answers 404, and raises an alarm. */
  async #keepVanishing(
    request: ProviderRequest,
    allowed: readonly ReleaseRequest[],
    verdicts: ReadonlyMap<Version, Verdict>,
  ): Promise<ReadonlyMap<Version, Verdict>> {
    const { standings, alarms } = this.#parts;
    if (!verdicts.values().some(isPhantom)) return verdicts;
    const newestFirst = allowed.map(({ address }) => address.version);
    const refused = await standings.listRefused(request);
    const versions = listVanishing(newestFirst, refused);
    if (versions.length === 0) return verdicts;
    const provider = formatProviderAddress(request.provider);
    alarms.raise("versions-vanished", { provider, versions });
    return withoutPhantoms(verdicts, await standings.meet(request));
  }

  /** Asks the origin again in the background for what was refused. */
  #lookAgain(list: VersionList, refused: readonly ReleaseRequest[]): void {
    for (const request of refused)
      this.#background.look(request, () => this.#remembered.delete(list));
  }
}

/** Everything beside the time that decides what a list has. */
export interface ListingState {
  readonly rules: AdmissionRules;
  /** Weak, since each change makes another, of all providers of the namespace. */
  readonly trust: WeakRef<NamespaceTrust>;
  /** The same object while nothing changes. */
  readonly refused: Refusals;
  /** Changes as soon as a release of the provider is answered otherwise than before. */
  readonly revision: number;
}

async function readState(
  standings: Pick<Standings, "listRefused" | "revisionOf">,
  request: ProviderRequest,
): Promise<ListingState> {
  const { rules, entry } = request;
  const refused = await standings.listRefused(request);
  const revision = standings.revisionOf(request);
  return { rules, trust: new WeakRef(entry.trust), refused, revision };
}

export function isSame(one: ListingState, other: ListingState): boolean {
  return (
    one.rules === other.rules &&
    one.refused === other.refused &&
    one.revision === other.revision &&
    one.trust.deref() === other.trust.deref()
  );
}

/** Judgings under way, with the state in which each began. */
export type RunningJudgings<T> = Map<
  VersionList,
  { readonly state: ListingState; readonly judged: Promise<T> }
>;

/** Joins a judging of the same state, or one that began after this request; else begins one. One runs at a time. */
export async function shareJudging<T>(
  running: RunningJudgings<T>,
  list: VersionList,
  state: ListingState,
  judge: () => Promise<T>,
): Promise<T> {
  const earlier = running.get(list);
  if (earlier !== undefined) {
    if (isSame(earlier.state, state)) return earlier.judged;
    await earlier.judged.catch(() => undefined);
  }
  const later = running.get(list);
  if (later !== undefined) return later.judged;
  const judged = judge().finally(() => running.delete(list));
  running.set(list, { state, judged });
  return judged;
}

/** Looks at once, waiting ones, and those that are remembered. */
const lookUpsAtOnce = 4;
const mostWaiting = 256;
const mostRemembered = 10_000;

/**
 * Looks again at refused releases, so that a repaired one is listed again
 * although no client requests it by name.
 */
export class BackgroundLooks {
  readonly #standings: Standings;
  readonly #turn = pLimit(lookUpsAtOnce);
  /** Milliseconds of the monotonic clock, by release. */
  // Unlike `max`, this takes memory for what is remembered alone.
  readonly #looked = new LRUCache<string, number>({
    maxSize: mostRemembered,
    sizeCalculation: () => 1,
  });

  constructor(standings: Standings) {
    this.#standings = standings;
  }

  /** Returns at once; `onServed` is called when clients may have it again. */
  look(request: ReleaseRequest, onServed: () => void): void {
    const name = formatRelease(request.address);
    const now = performance.now();
    const last = this.#looked.get(name) ?? -Infinity;
    if (now - last < lookAgainAfter || this.#turn.pendingCount >= mostWaiting)
      return;
    this.#looked.set(name, now);
    void this.#turn(() => this.#standings.lookUp(request))
      .then(onServed)
      .catch(() => undefined);
  }
}

/**
 * Milliseconds between two looks at one release; the cache asks the origin less
 * often.
 */
const lookAgainAfter = 1_000;
