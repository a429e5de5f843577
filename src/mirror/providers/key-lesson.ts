import { LRUCache } from "lru-cache";
import {
  formatProviderAddress,
  type ProviderAddress,
} from "../../address/provider-address.ts";
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
import type { Admission, AdmissionRules } from "../trust/admission.ts";
import type { NamespaceTrust } from "../trust/namespace-trust.ts";
import type { ProviderCatalog } from "./provider-catalog.ts";
import type { Release, ReleaseAddress } from "../releases/release.ts";
import { firstContactOf, type VersionList } from "../releases/version-list.ts";

/** How many versions are tried until one's key is learnt. */
const teachers = 3;
/** Milliseconds that an answer waits for a lesson; it goes on for the next one. */
const patience = 5_000;
/** Milliseconds for which a lesson that failed is not tried again, and one that nobody could teach. */
const pauseAfterFailure = 1_000;
const pauseAfterRefusals = 60_000;
/** Clients may ask for any provider, so memory is bounded. */
const providersInMemory = 1_000;

interface LessonParts {
  readonly catalog: ProviderCatalog;
  readonly admission: Admission;
  readonly offline: boolean;
}

/** What a lesson that taught nothing came to; undefined when every release was refused. */
interface Untaught {
  readonly failure: ProvenderError | undefined;
  /** Of `performance.now()`; sooner when rules or decisions change. */
  readonly until: number;
  readonly rules: AdmissionRules;
  /** Weak, since each change makes another, of all providers of the namespace. */
  readonly trust: WeakRef<NamespaceTrust>;
}

/**
 * First contact with a provider teaches its key: that of the newest release which
 * its first list had, documents only, whatever was asked for. Later releases are
 * held against it.
 */
export class KeyLessons {
  readonly #parts: LessonParts;
  readonly #running = new SingleFlight<string, ProvenderError | undefined>();
  readonly #untaught = new LRUCache<string, Untaught>({
    max: providersInMemory,
  });

  constructor(parts: LessonParts) {
    this.#parts = parts;
  }

  /** Resolves when the lesson was made, or nothing can teach it; with the failure that keeps it from being made now. Never rejects. */
  async learn(
    provider: ProviderAddress,
    findList: () => Promise<VersionList | undefined>,
  ): Promise<ProvenderError | undefined> {
    const { admission, catalog } = this.#parts;
    const { policy } = catalog.originOf(provider);
    if (policy.signatures === "off" || !admission.takesKeys(provider))
      return undefined;
    if (await admission.isTaught(provider)) return undefined;
    const name = formatProviderAddress(provider);
    const lesson = this.#running.run(name, () =>
      this.#learnOnce(name, provider, findList),
    );
    return inTime(
      lesson,
      patience,
      () => new OriginTimedOut(name, "its newest release"),
    );
  }

  async #learnOnce(
    name: string,
    provider: ProviderAddress,
    findList: () => Promise<VersionList | undefined>,
  ): Promise<ProvenderError | undefined> {
    const { rules, parts } = this.#parts.admission;
    const trust = await parts.ledger.read(provider);
    const known = this.#untaught.get(name);
    const isKnown =
      known?.rules === rules &&
      known.trust.deref() === trust &&
      performance.now() < known.until;
    if (isKnown) return known.failure;
    const failure = await this.#teach(provider, findList).catch(asFailure);
    if (failure === "taught") return undefined;
    const pause = failure ? pauseAfterFailure : pauseAfterRefusals;
    const until = performance.now() + pause;
    this.#untaught.set(name, {
      failure,
      until,
      rules,
      trust: new WeakRef(trust),
    });
    return failure;
  }

  async #teach(
    provider: ProviderAddress,
    findList: () => Promise<VersionList | undefined>,
  ): Promise<"taught" | undefined> {
    const list = await findList();
    if (list === undefined) return undefined;
    for (const version of this.#listTeachers(provider, list)) {
      const address = { provider, version };
      try {
        const release = await this.#find(address);
        if (release === undefined) return undefined;
        if (await this.#parts.admission.teach(address, release, list))
          return "taught";
      } catch (error) {
        if (!isRefusal(error)) throw error;
      }
    }
    return undefined;
  }

  /** Of the first list, as far as the rules allow them. */
  #listTeachers(
    provider: ProviderAddress,
    list: VersionList,
  ): readonly Version[] {
    const first = [...list.versions.keys()].filter(
      (version) => firstContactOf(list, version) !== undefined,
    );
    return orderTeachers(first)
      .filter((version) => this.#parts.admission.allows({ provider, version }))
      .slice(0, teachers);
  }

  /** Undefined when it is not stored and nobody may be asked: then no older one can stand for it. */
  async #find(address: ReleaseAddress): Promise<Release | undefined> {
    const { catalog, offline } = this.#parts;
    const known = await catalog.peekRelease(address);
    if (known !== undefined || offline) return known;
    return (await catalog.findRelease(address)).value;
  }
}

/** Releases before prereleases, newest first. */
export function orderTeachers(
  versions: readonly Version[],
): readonly Version[] {
  const ordered = newestFirst(versions);
  return [
    ...ordered.filter((version) => !isPrerelease(version)),
    ...ordered.filter(isPrerelease),
  ];
}

/** Statuses of documents that a release does not have. */
const gone: ReadonlySet<number> = new Set([404, 410]);

/** Of a release as such: the next one may teach. Such is also an answer that no repetition makes usable. */
function isRefusal(error: unknown): boolean {
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
