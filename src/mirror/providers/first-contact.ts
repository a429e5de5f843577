import { LRUCache } from "lru-cache";
import { formatProviderAddress } from "../../address/provider-address.ts";
import { isPrerelease } from "../../address/version-constraint.ts";
import { newestFirst, type Version } from "../../address/version.ts";
import { inTime } from "../../concurrency/in-time.ts";
import { SingleFlight } from "../../concurrency/single-flight.ts";
import {
  isOriginFailure,
  OriginAnswerCut,
  OriginAnswerUnusable,
  OriginStatus,
  OriginTimedOut,
  ProvenderError,
  RecordUnreadable,
  StoreFull,
  TooBusy,
} from "../../errors/index.ts";
import type { Release } from "../releases/release.ts";
import { firstContactOf, type VersionList } from "../releases/version-list.ts";
import { takesKeys, type AdmissionRules } from "../trust/admission-rules.ts";
import type { Admission } from "../trust/admission.ts";
import { findLesson, type NamespaceTrust } from "../trust/namespace-trust.ts";
import {
  requestVersion,
  type ProviderRequest,
  type ReleaseRequest,
} from "../trust/request.ts";
import type { ProviderCatalog } from "./provider-catalog.ts";

/** How many versions are tried until one's key is learnt. */
const mostCandidates = 3;
/** Milliseconds that an answer waits for a lesson; it goes on for the next one. */
const patience = 5_000;
/** Milliseconds for which a lesson that failed is not tried again, and one that nobody could teach. */
const pauseAfterFailure = 1_000;
const pauseAfterRefusals = 60_000;
/** Clients may ask for any provider, so memory is bounded. */
const providersInMemory = 1_000;

/** Why first contact could not teach the provider's key now; undefined when it did, or every release was refused. */
export type FirstContactFailure = ProvenderError | undefined;

/** What a lesson that taught nothing came to. */
interface Untaught {
  readonly outcome: Promise<FirstContactFailure>;
  /** Of `performance.now()`; sooner when rules or decisions change. */
  readonly until: number;
  readonly rules: AdmissionRules;
  /** Weak, since each change makes another, of all providers of the namespace. */
  readonly trust: WeakRef<NamespaceTrust>;
}

type FindList = () => Promise<VersionList | undefined>;

interface FirstContactParts {
  readonly catalog: Pick<ProviderCatalog, "findRelease" | "peekRelease">;
  readonly admission: Pick<Admission, "teach">;
  readonly offline: boolean;
}

const taught = Promise.resolve<FirstContactFailure>(undefined);

/** Lessons under way, one a provider however many ask, and those that are not to be tried again yet. */
export class FirstContacts {
  readonly #parts: FirstContactParts;
  readonly #running = new SingleFlight<string, FirstContactFailure>();
  readonly #untaught = new LRUCache<string, Untaught>({
    max: providersInMemory,
  });

  constructor(parts: FirstContactParts) {
    this.#parts = parts;
  }

  /** First contact with a provider teaches its key: that of the newest release which its first list had, whatever was asked for. Resolves with why it could not. */
  learn(
    request: ProviderRequest,
    findList: FindList,
  ): Promise<FirstContactFailure> {
    if (!needsLesson(request)) return taught;
    const settled = this.#settled(request);
    if (settled !== undefined) return settled;
    const learning = this.#learnOnce(request, findList);
    // A list without suspects does not wait for it, and whoever does hears of its failure.
    learning.catch(() => undefined);
    return learning;
  }

  async #learnOnce(request: ProviderRequest, findList: FindList) {
    const failure = await (this.#join(request) ??
      this.#track(request, this.#teach(request, findList)));
    await request.entry.renew();
    return failure;
  }

  async #teach(request: ProviderRequest, findList: FindList): Promise<boolean> {
    const list = await findList();
    if (list === undefined) return false;
    for (const candidate of listCandidates(request, list))
      try {
        const release = await this.#findCandidate(candidate);
        if (release === undefined) return false;
        if (await this.#parts.admission.teach(candidate, release, list))
          return true;
      } catch (error) {
        if (!isRefusalOfCandidate(error)) throw error;
      }
    return false;
  }

  /** Undefined when it is not stored and nobody may be asked: then no older one can stand for it. */
  async #findCandidate(
    candidate: ReleaseRequest,
  ): Promise<Release | undefined> {
    const { catalog, offline } = this.#parts;
    const known = await catalog.peekRelease(candidate.address);
    if (known !== undefined || offline) return known;
    return (await catalog.findRelease(candidate)).value;
  }

  /** What the last lesson came to; undefined while one is under way, and when one is to be made. */
  #settled({
    provider,
    rules,
    entry,
  }: ProviderRequest): Promise<FirstContactFailure> | undefined {
    const name = formatProviderAddress(provider);
    const known = this.#untaught.get(name);
    const isKnown =
      known?.rules === rules &&
      known.trust.deref() === entry.trust &&
      performance.now() < known.until &&
      !this.#running.has(name);
    return isKnown ? known.outcome : undefined;
  }

  /** The lesson under way. */
  #join({
    provider,
  }: ProviderRequest): Promise<FirstContactFailure> | undefined {
    const name = formatProviderAddress(provider);
    const running = this.#running.join(name);
    return running && inPatience(name, running);
  }

  /** Has others wait for a lesson that was begun; `teaching` resolves with whether it taught something. */
  #track(
    { provider, rules, entry }: ProviderRequest,
    teaching: Promise<boolean>,
  ): Promise<FirstContactFailure> {
    const name = formatProviderAddress(provider);
    const trust = new WeakRef(entry.trust);
    const lesson = this.#running.run(name, () =>
      this.#end(name, { rules, trust }, teaching),
    );
    return inPatience(name, lesson);
  }

  async #end(
    name: string,
    under: Pick<Untaught, "rules" | "trust">,
    teaching: Promise<boolean>,
  ): Promise<FirstContactFailure> {
    const result = await teaching.catch(asFailure);
    if (result === true) return undefined;
    const failure = result === false ? undefined : result;
    const pause = failure ? pauseAfterFailure : pauseAfterRefusals;
    const until = performance.now() + pause;
    const outcome = Promise.resolve(failure);
    this.#untaught.set(name, { ...under, outcome, until });
    return failure;
  }
}

/** True until first contact with the provider has taught who signs it, where any key could be acceptable. */
function needsLesson({
  provider,
  origin,
  rules,
  entry,
}: ProviderRequest): boolean {
  return (
    origin.policy.signatures !== "off" &&
    takesKeys(rules, provider) &&
    findLesson(entry.trust, provider.type) === undefined
  );
}

/** The releases of the first list that may teach, as far as the rules allow them, in the order in which they are asked. */
function* listCandidates(
  request: ProviderRequest,
  list: VersionList,
): Generator<ReleaseRequest> {
  const first = [...list.versions.keys()].filter(
    (version) => firstContactOf(list, version) !== undefined,
  );
  let left = mostCandidates;
  for (const version of orderCandidates(first)) {
    const one = requestVersion(request, version);
    if (one === undefined) continue;
    yield one;
    if (--left === 0) return;
  }
}

/** Releases before prereleases, newest first. */
export function orderCandidates(
  versions: readonly Version[],
): readonly Version[] {
  const ordered = newestFirst(versions);
  return [
    ...ordered.filter((version) => !isPrerelease(version)),
    ...ordered.filter(isPrerelease),
  ];
}

function inPatience(
  name: string,
  lesson: Promise<FirstContactFailure>,
): Promise<FirstContactFailure> {
  return inTime(
    lesson,
    patience,
    () => new OriginTimedOut(name, "its newest release"),
  );
}

/** Statuses of documents that a release does not have. */
const gone: ReadonlySet<number> = new Set([404, 410]);

/** True for the refusal of a release as such: the next one may teach. Such is also an answer that no repetition makes usable. */
function isRefusalOfCandidate(error: unknown): boolean {
  if (error instanceof OriginAnswerUnusable)
    return !(error instanceof OriginAnswerCut);
  if (error instanceof OriginStatus) return gone.has(error.status);
  return (
    error instanceof ProvenderError &&
    !isOriginFailure(error) &&
    !(error instanceof TooBusy) &&
    !(error instanceof StoreFull) &&
    !(error instanceof RecordUnreadable)
  );
}

function asFailure(error: unknown): ProvenderError {
  if (error instanceof ProvenderError) return error;
  throw error;
}
