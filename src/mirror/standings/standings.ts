import { randomUUID } from "node:crypto";
import { LRUCache } from "lru-cache";
import { formatProviderAddress } from "../../address/provider-address.ts";
import {
  isPrerelease,
  newestFirst,
  type Version,
} from "../../address/version.ts";
import { inTime } from "../../concurrency/in-time.ts";
import { SingleFlight } from "../../concurrency/single-flight.ts";
import { failure, isFailure, ProvenderError } from "../../errors/index.ts";
import { noteContact } from "../../trust/first-contact.ts";
import type { FirstContact } from "../../trust/state.ts";
import type { Clock } from "../cache/clock.ts";
import type { Answer, Within } from "../cache/metadata-cache.ts";
import { formatRelease, type Release } from "../releases/release.ts";
import { keyRulesOf, type AdmissionRules } from "../trust/admission-rules.ts";
import {
  requestVersions,
  type ProviderRequest,
  type ReleaseRequest,
} from "../trust/admission.ts";
import type { Settlements } from "../trust/settlements.ts";
import type { TrustEvents } from "../trust/trust-events.ts";
import { listedIn } from "../versions/version-list.ts";
import { isAdmitted, type ProviderCatalog } from "./provider-catalog.ts";
import { refusalOf, saysNothing, type RefusedVersions } from "./refusals.ts";

/** Releases that are tried until one can be had and verifies, and failures of the origin among them. */
const mostTried = 8;
const mostFailures = 3;
/** Milliseconds for which a first contact that failed is not tried again. */
const pause = 1_000;
/** Providers in memory; bounded because clients may request any. */
const mostRemembered = 1_000;

interface StandingsParts {
  readonly catalog: ProviderCatalog;
  readonly settlements: Settlements;
  readonly events: TrustEvents;
  /** The versions that were refused when they were asked for last. */
  readonly refused: RefusedVersions;
  readonly clock: Clock;
  readonly offline: boolean;
  /** Milliseconds that an answer waits for first contact, which goes on for the next one. */
  readonly patience: number;
}

/**
 * The one question of every face: what clients get of a release now. Index,
 * VERSION.json, archives, prefetch, lock, export and pages ask it
 * (docs/trust.md, rule 8). Before the first answer it makes first contact with
 * a provider, once (rule 3).
 */
export class Standings {
  readonly #parts: StandingsParts;
  readonly #making = new SingleFlight<string, FirstContact>();
  /** Asks the clock each time: the model moves it by hours between two turns. */
  readonly #failed = new LRUCache<
    string,
    { readonly error: ProvenderError; readonly rules: AdmissionRules }
  >({ max: mostRemembered, ttl: pause, ttlResolution: 0 });

  constructor(parts: StandingsParts) {
    this.#parts = parts;
  }

  get refused(): RefusedVersions {
    return this.#parts.refused;
  }

  /** Finds a release that clients may have, too young only where the policy reports. */
  async lookUp(
    request: ReleaseRequest,
    within: Within = {},
  ): Promise<Answer<Release>> {
    const { catalog, settlements } = this.#parts;
    return this.#noting(request, async () => {
      const [answer, contact] = await Promise.all([
        catalog.findRelease(request, within),
        this.meet(request, request),
      ]);
      // Operators may have decided something while the origin was asked.
      if (answer.outcome !== "hit") await request.entry.renew();
      const list = await catalog.versions.peek(request.provider);
      const by = { contact, list };
      const value = await settlements.settle(request, answer.value, by);
      return { ...answer, value };
    });
  }

  /** The same by what is known, without asking the origin. */
  async look(request: ReleaseRequest): Promise<Release> {
    const { catalog, settlements } = this.#parts;
    const known = await catalog.releases.peek(request.address);
    if (known === undefined)
      throw failure("not-stored", formatRelease(request.address));
    const contact = await this.meet(request, request);
    const list = await catalog.versions.peek(request.provider);
    const by = { contact, list };
    // An offer that was not admitted may have been withdrawn since.
    const isOffer = !isAdmitted(request, known) && !request.rules.offline;
    if (isOffer && settlements.preview(request, known, by).size > 0)
      throw failure("not-stored", formatRelease(request.address));
    return this.#noting(request, () => settlements.settle(request, known, by));
  }
  /** Finds the first contact, or makes it; `wanted` is tried last, where no newer release can be had. */
  async meet(
    request: ProviderRequest,
    wanted?: ReleaseRequest,
  ): Promise<FirstContact> {
    const { provider, entry } = request;
    const known = await entry.findContact(provider.type);
    if (known !== undefined) return known;
    const name = formatProviderAddress(provider);
    if (this.#parts.offline) throw failure("not-stored", name);
    const failed = this.#failed.get(name);
    // Only a list, which names no release, waits for a while before it tries again.
    if (wanted === undefined && failed?.rules === request.rules)
      throw failed.error;
    const making = this.#making.run(name, () => this.#make(request, wanted));
    return inTime(making, this.#parts.patience, () => {
      throw failure("origin-timeout", name, "its newest release");
    });
  }

  async #make(
    request: ProviderRequest,
    wanted: ReleaseRequest | undefined,
  ): Promise<FirstContact> {
    const { provider, rules } = request;
    const { catalog, events, refused, clock } = this.#parts;
    const name = formatProviderAddress(provider);
    try {
      const { value: list } = await catalog.listVersions(request);
      if (list.versions.size === 0) throw failure("not-found", name);
      // A version that was delisted before exists no longer.
      const listed = listedIn(list);
      const newest = await this.#findNewest(request, listed, wanted);
      const contact = await writeContact(events, request, {
        id: randomUUID(),
        at: clock.now(),
        by: "list",
        versions: new Set(listed),
        published: newest.published,
        key: newest.evidence.at(-1)?.signedBy,
        newest: newest.version,
      });
      for (const [version, code] of newest.skipped)
        await refused.note(provider, version, code);
      return contact;
    } catch (error) {
      if (wanted === undefined && error instanceof ProvenderError)
        this.#failed.set(name, { error, rules });
      throw error;
    }
  }

  /** A refusal, or a document that is gone, goes on to the next release; so does a failure, after one more try. */
  async #findNewest(
    request: ProviderRequest,
    listed: readonly Version[],
    wanted: ReleaseRequest | undefined,
  ) {
    const { catalog } = this.#parts;
    const errors: ProvenderError[] = [];
    /** Newer ones that could not be had, with the code of their refusal. */
    const skipped = new Map<Version, string>();
    let failures = 0;
    const { allowed } = requestVersions(request, orderCandidates(listed));
    const candidates = allowed.slice(0, mostTried);
    if (allowed.length > mostTried && wanted !== undefined)
      candidates.push(wanted);
    for (const candidate of candidates) {
      const { version } = candidate.address;
      const find = () => catalog.findRelease(candidate);
      try {
        const { value } = await find().catch((error: unknown) =>
          saysNothing(error) ? find() : Promise.reject(error as Error),
        );
        const fault = value.trust.evidence.at(-1)?.fault;
        if (fault === undefined) return { version, ...value.trust, skipped };
        errors.push(fault);
      } catch (error) {
        if (!(error instanceof ProvenderError)) throw error;
        const code = refusalOf(error);
        if (code !== undefined) skipped.set(version, code);
        const isFailure = saysNothing(error);
        // A failure outweighs a refusal: an older release proves nothing then.
        errors[isFailure ? "unshift" : "push"](error);
        if (isFailure && ++failures >= mostFailures) break;
      }
    }
    const [error] = errors.filter((one) => !isFailure(one, "not-found"));
    const name = formatProviderAddress(request.provider);
    if (error !== undefined) throw error;
    const why = "no release of it can be had";
    const { guidance } = request.rules.policy.otherwise;
    throw failure("nothing-admitted", name, why, [], guidance);
  }

  /**
   * Notes refusals, which lists check before they name a version. Only listed
   * versions are noted.
   */
  async #noting<T>(
    { address }: ReleaseRequest,
    answer: () => Promise<T>,
  ): Promise<T> {
    const { provider, version } = address;
    const { catalog, refused } = this.#parts;
    try {
      const answered = await answer();
      await refused.note(provider, version, undefined);
      return answered;
    } catch (error) {
      const code = refusalOf(error);
      if (code === undefined) throw error;
      const list = await catalog.versions.peek(provider);
      const entry = list?.versions.get(version);
      const isNamed = code === "not-found" ? entry?.listed : entry;
      if (isNamed) await refused.note(provider, version, code);
      throw error;
    }
  }
}

/** Writes a first contact, what it teaches, and its line, at once; one that lost the race is read and used. */
export async function writeContact(
  events: TrustEvents,
  { provider, entry, rules }: ProviderRequest,
  contact: FirstContact,
): Promise<FirstContact> {
  const { type } = provider;
  let alarms = false;
  return entry.createContact(
    type,
    contact,
    (before) => {
      const contacted = noteContact(before, type, contact);
      // Keys named in the configuration are the only ones that count.
      const { pins } = keyRulesOf(rules, provider);
      alarms = contacted.alarms && pins === undefined;
      return contacted.namespace;
    },
    () => events.noteContact(provider, contact, alarms),
  );
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
