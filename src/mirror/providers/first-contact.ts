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
import { firstContactOf, type VersionList } from "../releases/version-list.ts";
import { takesKeys, type AdmissionRules } from "../trust/admission-rules.ts";
import { findLesson, type NamespaceTrust } from "../trust/namespace-trust.ts";
import {
  requestVersion,
  type ProviderRequest,
  type ReleaseRequest,
} from "../trust/request.ts";

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

const taught = Promise.resolve<FirstContactFailure>(undefined);

/** Lessons under way, one a provider however many ask, and those that are not to be tried again yet. */
export class FirstContacts {
  readonly #running = new SingleFlight<string, FirstContactFailure>();
  readonly #untaught = new LRUCache<string, Untaught>({
    max: providersInMemory,
  });

  /** What is known without another lesson: that none is needed, what the last one came to, or the one under way; undefined when one is to be made. */
  find(request: ProviderRequest): Promise<FirstContactFailure> | undefined {
    if (!needsLesson(request)) return taught;
    const running = this.#running.join(formatProviderAddress(request.provider));
    return running === undefined
      ? this.#settled(request)
      : follow(request, running);
  }

  /** What the last lesson came to; undefined when another is to be made. */
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
      performance.now() < known.until;
    return isKnown ? known.outcome : undefined;
  }

  /** Has others wait for a lesson that was begun; `teaching` resolves with whether it taught something. */
  track(
    request: ProviderRequest,
    teaching: Promise<boolean>,
  ): Promise<FirstContactFailure> {
    const { provider, rules, entry } = request;
    const name = formatProviderAddress(provider);
    const trust = new WeakRef(entry.trust);
    const lesson = this.#running.run(name, () =>
      this.#end(name, { rules, trust }, teaching),
    );
    return follow(request, lesson);
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
export function* listCandidates(
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

/** What was learnt counts from then on. */
function follow(
  request: ProviderRequest,
  lesson: Promise<FirstContactFailure>,
): Promise<FirstContactFailure> {
  const name = formatProviderAddress(request.provider);
  const late = () => new OriginTimedOut(name, "its newest release");
  const followed = inTime(lesson, patience, late).then(async (failure) => {
    await request.entry.renew();
    return failure;
  });
  // A list without suspects does not wait for it, and whoever does hears of its failure.
  followed.catch(() => undefined);
  return followed;
}

/** Statuses of documents that a release does not have. */
const gone: ReadonlySet<number> = new Set([404, 410]);

/** True for the refusal of a release as such: the next one may teach. Such is also an answer that no repetition makes usable. */
export function isRefusalOfCandidate(error: unknown): boolean {
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
