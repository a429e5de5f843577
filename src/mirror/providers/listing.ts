import { LRUCache } from "lru-cache";
import pLimit from "p-limit";
import semver from "semver";
import { formatProviderAddress } from "../../address/provider-address.ts";
import { newestFirst, type Version } from "../../address/version.ts";
import { inTime } from "../../concurrency/in-time.ts";
import { KeyedLimit } from "../../concurrency/keyed-limit.ts";
import { SingleFlight } from "../../concurrency/single-flight.ts";
import { failure, isFailure, ProvenderError } from "../../errors/index.ts";
import type { Alarms } from "../../telemetry/alarms.ts";
import { listApproved } from "../../trust/decisions.ts";
import type { FirstContact, NamespaceTrust } from "../../trust/state.ts";
import type { Archives } from "../archives/archives.ts";
import type { ProviderChanges } from "../cache/provider-changes.ts";
import type { ReleaseRecords } from "../releases/records.ts";
import { listVanished, saysNothing } from "../standings/refusals.ts";
import type { Standings } from "../standings/standings.ts";
import { type AdmissionRules, limitsKeys } from "../trust/admission-rules.ts";
import {
  divide,
  leaveOutRefused,
  leaveOutYoung,
  type LeftOut,
  type Listed,
  nothingAdmitted,
} from "../trust/left-out.ts";
import {
  type ProviderRequest,
  type ReleaseRequest,
  requestVersions,
} from "../trust/admission.ts";
import { listedIn, type VersionList } from "../versions/version-list.ts";

/** Versions of a provider that clients may have, newest first, and the others. */
export interface Listing extends Lasting, Listed {
  readonly versions: readonly Version[];
}

/** For how long a list stays as it is while nothing changes. */
export interface Lasting {
  /** When the next version is old enough, on the wall clock. */
  readonly until: number;
  /** When the next version is to be verified again, on the monotonic clock. */
  readonly due: number;
}

/** Milliseconds for which a list waits for verifications; clients give metadata 10 s. */
const patience = 7_000;
/** Verifications at once, in all and of one provider, and those that may wait. */
const atOnce = 32;
const ofOneProvider = 8;
const mostWaiting = 1_024;
/** Versions of first contact that one list has verified because of their keys. */
const mostOfContact = 16;
/** Milliseconds after which a verification that an origin's failure ended is tried again. */
const pauseAfterFailure = 5_000;
/** Providers in memory, and versions of each that were verified; bounded because clients may request any. */
const mostProviders = 1_000;
const mostVersions = 1_000;

interface Attempt {
  /** Time on the monotonic clock from which on there may be another one. */
  next: number;
  running: Promise<void> | undefined;
  readonly isFirst: boolean;
  /** Says nothing of the release. */
  failure: ProvenderError | undefined;
}

/** What is known of one provider under the same rules and decisions. */
interface Memory {
  readonly rules: AdmissionRules;
  /** Weak, since each change makes another, of all providers of the namespace. */
  readonly trust: WeakRef<NamespaceTrust>;
  readonly attempts: LRUCache<Version, Attempt>;
  /** By the number of the last change. */
  readonly running: SingleFlight<number, Listing>;
}

/** `absent`: neither listed nor stored. */
type Verdict = "good" | "absent" | LeftOut;

export interface ListingsParts {
  readonly standings: Standings;
  readonly changes: ProviderChanges;
  readonly archives: Archives;
  readonly releases: ReleaseRecords;
  readonly alarms: Alarms;
  /** Milliseconds between two verifications of a refused version. */
  readonly freshness: number;
}

/**
 * The versions of `index.json` (docs/trust.md, "What is listed"). Clients choose
 * before they ask, so that a version that would be refused is not listed.
 */
export class Listings {
  readonly #parts: ListingsParts;
  readonly #providers = new LRUCache<string, Memory>({ max: mostProviders });
  readonly #turn = new KeyedLimit(atOnce, ofOneProvider);

  constructor(parts: ListingsParts) {
    this.#parts = parts;
  }

  /** Joins the same list that is being made. */
  async list(request: ProviderRequest, list: VersionList): Promise<Listing> {
    const memory = this.#remember(request);
    const change = await this.#parts.changes.numberOf(request.provider);
    return memory.running.run(change, () =>
      this.#listOffered(request, list, memory),
    );
  }

  /** Lists what is stored of the versions on record, where no origin is asked. */
  async listStored(
    request: ProviderRequest,
    kept: readonly Version[],
  ): Promise<Listing> {
    // A first contact that cannot be read is no absence.
    await this.#parts.standings.meet(request);
    const { allowed, denied } = requestVersions(request, newestFirst(kept));
    const verdicts = new Map<Version, Verdict>();
    await pLimit(ofOneProvider).map(allowed, async (one) => {
      const verdict = await this.#look(one, true);
      if (verdict !== undefined) verdicts.set(one.address.version, verdict);
    });
    const selected = select(request, allowed, verdicts, denied);
    const { listing, refused } = selected;
    const name = formatProviderAddress(request.provider);
    if (listing.versions.length === 0)
      throw refused.length > 0
        ? nothingAdmitted(name, refused, request.rules.policy)
        : failure("not-stored", name);
    return { ...listing, due: Infinity };
  }

  async #listOffered(
    request: ProviderRequest,
    list: VersionList,
    memory: Memory,
  ): Promise<Listing> {
    const { standings, releases } = this.#parts;
    const { attempts } = memory;
    const name = formatProviderAddress(request.provider);
    const deadline = performance.now() + patience;
    const recorded = await releases.list(request.provider);
    const isListed = (version: Version) =>
      list.versions.get(version)?.listed === true;
    const known = newestFirst([...new Set([...listedIn(list), ...recorded])]);
    const { allowed, denied: all } = requestVersions(request, known);
    const denied = all.filter(({ version }) => isListed(version));
    const contact =
      allowed.length === 0 ? undefined : await standings.meet(request);
    let verdicts: ReadonlyMap<Version, Verdict> = new Map();
    let wanted: readonly ReleaseRequest[] = [];
    const budget = { left: mostOfContact };
    if (contact !== undefined)
      do {
        const by = [list, contact, attempts, budget] as const;
        const judged = await this.#judge(request, allowed, ...by);
        ({ verdicts, wanted } = judged);
      } while (await this.#awaitFirst(wanted, memory, deadline));
    const selected = select(request, allowed, verdicts, denied);
    const { listing, refused } = selected;
    const isAny =
      denied.length > 0 ||
      verdicts.values().some((verdict) => verdict !== "absent");
    if (!isAny && list.versions.size > 0) throw failure("not-found", name);
    // An empty list would send clients on to their next installation method.
    if (isAny && listing.versions.length === 0) {
      const failed = wanted.flatMap(
        ({ address }) => attempts.peek(address.version)?.failure ?? [],
      );
      throw failed[0] ?? nothingAdmitted(name, refused, request.rules.policy);
    }
    // One that is under way says itself that something changed.
    const due = wanted.map(
      ({ address }) => attempts.peek(address.version)?.next ?? 0,
    );
    return { ...listing, due: Math.min(...due, Infinity) };
  }

  /**
   * Judges by what is known. Where versions are asked to have an age, those of first contact that are below a version
   * of their release line (major.minor) that is old enough are taken to be older, so that only the newest of each line
   * are verified. `budget` is how many of first contact may still be verified for this list, because of their keys.
   */
  async #judge(
    request: ProviderRequest,
    allowed: readonly ReleaseRequest[],
    list: VersionList,
    contact: FirstContact,
    attempts: Memory["attempts"],
    budget: { left: number },
  ) {
    const { provider, rules, entry } = request;
    const { decisions } = entry.trust;
    const refusals = await this.#parts.standings.refused.list(provider);
    const isLimited = limitsKeys(rules, provider, entry.trust, contact);
    // What an origin that fails lists stays listed, with an alarm, where the newest three vanished together.
    const newest = allowed.map(({ address }) => address.version);
    const vanished = listVanished(newest, refusals);
    if (vanished.length > 0) {
      const name = formatProviderAddress(provider);
      const facts = { provider: name, versions: vanished };
      this.#parts.alarms.raise("versions-vanished", facts);
    }
    const verdicts = new Map<Version, Verdict>();
    const wanted = new Set<ReleaseRequest>();
    const judgeLine = async (line: readonly ReleaseRequest[]) => {
      let isOld = false;
      let isPending = false;
      for (const one of line) {
        const { version } = one.address;
        const isAged = one.decision.minimumAge > 0;
        const isListed = list.versions.get(version)?.listed === true;
        const refusal = refusals.get(version);
        const isOfContact = isListed && contact.versions.has(version);
        const isClear = isOfContact && refusal === undefined;
        // A content that an operator approved needs no age, and tells nothing of the versions below it.
        const isApproved =
          listApproved(decisions, { type: provider.type, version }).length > 0;
        const isTrusted = isClear && !isLimited && !isApproved;
        if (isTrusted && (!isAged || isOld)) {
          verdicts.set(version, "good");
          continue;
        }
        if (isTrusted && isPending) {
          verdicts.set(version, leaveOutRefused(version, undefined));
          continue;
        }
        const known = await this.#look(one, !isListed);
        if (known === "good" && !isApproved) isOld = true;
        const isGone = refusal?.code === "not-found";
        const isKept = isOfContact && vanished.length > 0 && isGone;
        const isUnproven = isKept || (isClear && !isAged);
        const unknown = isUnproven ? "good" : leaveOutRefused(version, refusal);
        verdicts.set(version, known ?? (isListed ? unknown : "absent"));
        const isHeld = typeof known === "object" && known.kind === "held";
        if (!isListed || !(known === undefined || isHeld)) continue;
        const attempt = attempts.peek(version);
        const wasAsked = attempt !== undefined && attempt.running === undefined;
        if (isTrusted && !wasAsked) isPending = true;
        // Looked at for its key alone, of which there may be hundreds.
        const isBounded = isClear && isLimited && !wasAsked;
        if (!isBounded || budget.left-- > 0) wanted.add(one);
      }
    };
    const lines = Map.groupBy(allowed, lineOf).values();
    await pLimit(ofOneProvider).map(lines, judgeLine);
    // Newest first, and never more than can be remembered.
    const ordered = allowed
      .filter((one) => wanted.has(one))
      .slice(0, mostVersions);
    return { verdicts, wanted: ordered };
  }

  /** Judges a release by what is known of it; undefined where nothing is. One that is not listed has to be stored. */
  async #look(
    request: ReleaseRequest,
    isStoredOnly: boolean,
  ): Promise<Verdict | undefined> {
    const { version } = request.address;
    try {
      const { packages, age } = await this.#parts.standings.look(request);
      if (isStoredOnly) {
        const digests = packages.values().map(({ sha256 }) => sha256);
        const sizes = digests.map((one) => this.#parts.archives.findSize(one));
        const isMissing = (size: number | undefined) => size === undefined;
        if ((await Promise.all(sizes)).every(isMissing)) return "absent";
      }
      return age.old ? "good" : leaveOutYoung(version, age);
    } catch (error) {
      if (!(error instanceof ProvenderError)) throw error;
      if (isFailure(error, "too-young")) return leaveOutYoung(version, error);
      return isFailure(error, "not-stored") || saysNothing(error)
        ? undefined
        : leaveOutRefused(version, error);
    }
  }

  /** Starts the verifications that are due, newest first, and waits for those that are a version's first; false when there was none, or no time. */
  async #awaitFirst(
    wanted: readonly ReleaseRequest[],
    memory: Memory,
    deadline: number,
  ): Promise<boolean> {
    const running = wanted.flatMap((one) => {
      this.#verify(one, memory);
      const attempt = memory.attempts.peek(one.address.version);
      return attempt?.isFirst === true ? (attempt.running ?? []) : [];
    });
    const time = deadline - performance.now();
    if (running.length === 0 || time <= 0) return false;
    const done = Promise.all(running).then(() => true);
    return inTime(done, time, () => false);
  }

  /** Asks the origin for a version in the background, at most once a freshness period, or after a while where the origin failed. */
  #verify(request: ReleaseRequest, memory: Memory): void {
    const { version, provider } = request.address;
    const name = formatProviderAddress(provider);
    const { clock, freshFor = this.#parts.freshness } = request.origin;
    const before = memory.attempts.get(version);
    const isDue =
      before === undefined ||
      (before.running === undefined && before.next <= clock.monotonic());
    if (!isDue || this.#turn.pendingCount >= mostWaiting) return;
    const attempt: Attempt = {
      next: Infinity,
      running: undefined,
      isFirst: before === undefined,
      failure: undefined,
    };
    memory.attempts.set(version, attempt);
    const end = (pause: number) => {
      attempt.next = clock.monotonic() + pause;
      attempt.running = undefined;
      this.#parts.changes.note(name);
    };
    attempt.running = this.#turn
      .run(name, () => this.#parts.standings.lookUp(request))
      .then(
        () => end(freshFor),
        (error: unknown) => {
          if (!saysNothing(error)) return end(freshFor);
          if (error instanceof ProvenderError) attempt.failure = error;
          end(Math.min(freshFor, pauseAfterFailure));
        },
      );
  }

  #remember({ provider, rules, entry: { trust } }: ProviderRequest): Memory {
    const name = formatProviderAddress(provider);
    const known = this.#providers.get(name);
    if (known?.rules === rules && known.trust.deref() === trust) return known;
    const memory: Memory = {
      rules,
      trust: new WeakRef(trust),
      // Unlike `max`, this takes memory for what is remembered alone.
      attempts: new LRUCache({
        maxSize: mostVersions,
        sizeCalculation: () => 1,
      }),
      running: new SingleFlight(),
    };
    this.#providers.set(name, memory);
    return memory;
  }
}

/** Versions of one line share its age; without a minimum age each is for itself. */
function lineOf({ address: { version }, decision }: ReleaseRequest): string {
  if (decision.minimumAge === 0) return version;
  const { major, minor } = new semver.SemVer(version);
  return `${decision.minimumAge} ${major}.${minor}`;
}

/** The versions that are listed, all that a policy refuses, and when the next one of these is old enough. */
function select(
  request: ProviderRequest,
  allowed: readonly ReleaseRequest[],
  verdicts: ReadonlyMap<Version, Verdict>,
  denied: readonly LeftOut[],
) {
  const isReporting = request.rules.report !== undefined;
  const versions: Version[] = [];
  const refused: LeftOut[] = [...denied];
  let until = Infinity;
  for (const { address } of allowed) {
    const verdict = verdicts.get(address.version) ?? "absent";
    if (verdict === "absent") continue;
    const isListed =
      verdict === "good" || (verdict.kind === "young" && isReporting);
    if (isListed) versions.push(address.version);
    if (verdict === "good") continue;
    refused.push(verdict);
    until = Math.min(until, verdict.availableAt?.getTime() ?? Infinity);
  }
  const listing = { versions, ...divide(refused, isReporting), until };
  return { listing, refused };
}
