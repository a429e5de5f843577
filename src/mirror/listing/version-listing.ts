import pLimit from "p-limit";
import { formatProviderAddress } from "../../address/provider-address.ts";
import { newestFirst, type Version } from "../../address/version.ts";
import { failure } from "../../errors/index.ts";
import type { Alarms } from "../../telemetry/alarms.ts";
import type { Archives } from "../archives/archives.ts";
import type { ReleaseRecords } from "../releases/records.ts";
import { limitVersions, type VersionList } from "../versions/version-list.ts";
import { limitsKeys } from "../trust/admission-rules.ts";
import { divide, nothingAdmitted, type LeftOut } from "../trust/left-out.ts";
import {
  requestVersion,
  requestVersions,
  type ProviderRequest,
  type ReleaseRequest,
} from "../trust/request.ts";
import { BackgroundLooks } from "./background-looks.ts";
import { LookUps } from "./release-look-ups.ts";
import { listVanishing } from "../standings/phantoms.ts";
import type { Standings } from "../standings/standings.ts";
import { isStored } from "../standings/stored-releases.ts";
import {
  isSame,
  readState,
  shareJudging,
  type ListingState,
  type RunningJudgings,
} from "./shared-judging.ts";
import { groupByAge, keepOld, type JudgedVersions } from "./version-ages.ts";
import {
  asLeftOut,
  findSuspicion,
  isPhantom,
  isWaiting,
  judgeVersion,
  leftOutBy,
  withoutPhantoms,
  type Verdict,
} from "./version-verdict.ts";

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

  /**
   * Newest first, and the same object while neither the rules, nor decisions, nor
   * time makes another of it. Throws nothing-admitted when all are refused, not-found
   * when all are gone, and the origin's failure when that could not be decided.
   */
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

  /** The versions on record of which an archive is stored, on a mirror that asks no origin. Throws nothing-admitted and not-stored. */
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
