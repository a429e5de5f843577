import pLimit from "p-limit";
import type { ProviderAddress } from "../address/provider-address.ts";
import { compareVersions, type Version } from "../address/version.ts";
import { isOriginFailure, ProvenderError, TooBusy } from "../errors.ts";
import type { Admission, AdmissionRules } from "./admission.ts";
import {
  isSameRelease,
  revokedKeys,
  type NamespaceTrust,
} from "./namespace-trust.ts";
import { keepOldEnough } from "./policy-age.ts";
import { decideByRules } from "./policy.ts";
import type { Release, ReleaseAddress } from "./release.ts";
import type { VersionList } from "./version-list.ts";

/** How releases are looked up for a listing. */
export interface ReleaseLookup {
  /** Without asking the origin. */
  peek(address: ReleaseAddress): Promise<Release | undefined>;
  find(address: ReleaseAddress): Promise<Release>;
  /** True when an archive of the release is stored. */
  isStored(address: ReleaseAddress): Promise<boolean>;
}

/** Look-ups for one listing: at once, in all, and how long they may take in milliseconds. */
const bounds = { atOnce: 8, newcomers: 32, time: 4_000 };

interface Remembered {
  readonly rules: AdmissionRules;
  readonly trust: NamespaceTrust;
  readonly versions: readonly Version[];
}

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

  /** Newest first; look-ups end at `latest`, on the monotonic clock. */
  async list(
    provider: ProviderAddress,
    list: VersionList,
    latest: number,
  ): Promise<readonly Version[]> {
    const { rules, parts } = this.#admission;
    const trust = await parts.ledger.read(provider);
    const remembered = this.#remembered.get(list);
    if (remembered?.rules === rules && remembered.trust === trust)
      return remembered.versions;
    const deadline = Math.min(latest, performance.now() + bounds.time);
    const present = await this.#present(provider, list);
    const allowed = present.filter((version) =>
      isAllowedByRules(rules, provider, version),
    );
    const trusted = await this.#trusted(
      provider,
      list,
      allowed,
      trust,
      deadline,
    );
    const asksForAge = this.#admission.asksForAge(provider, trusted.versions);
    const versions = asksForAge
      ? await this.#oldEnough(provider, list, trusted.versions, deadline)
      : trusted.versions;
    if (!asksForAge && trusted.complete)
      this.#remembered.set(list, { rules, trust, versions });
    return versions;
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
    return present
      .map(({ version }) => version)
      .toSorted((a, b) => compareVersions(b, a));
  }

  /** Less those whose key is not acceptable. */
  async #trusted(
    provider: ProviderAddress,
    list: VersionList,
    versions: readonly Version[],
    trust: NamespaceTrust,
    deadline: number,
  ): Promise<Trusted> {
    const verdicts = new Map<Version, boolean | undefined>();
    const suspects = versions.flatMap((version) => {
      const suspicion = findSuspicion(provider, list, version, trust);
      return suspicion === "none" ? [] : [{ version, suspicion }];
    });
    const newcomers = suspects.filter(({ suspicion }) => suspicion === "new");
    const late = new Set(newcomers.slice(bounds.newcomers));
    await pLimit(bounds.atOnce).map(suspects, async (suspect) => {
      const address = { provider, version: suspect.version };
      const verdict = late.has(suspect)
        ? undefined
        : await this.#judge(address, list, suspect.suspicion, deadline);
      verdicts.set(suspect.version, verdict);
    });
    return {
      versions: versions.filter(
        (version) => !verdicts.has(version) || verdicts.get(version) === true,
      ),
      complete: ![...verdicts.values()].includes(undefined),
    };
  }

  /** Undefined when that could not be found out in time. */
  async #judge(
    address: ReleaseAddress,
    list: VersionList,
    suspicion: Suspicion,
    deadline: number,
  ): Promise<boolean | undefined> {
    try {
      const release =
        (await this.#lookup.peek(address)) ??
        (suspicion === "new"
          ? await this.#findInTime(address, deadline)
          : undefined);
      if (release === undefined) return suspicion === "new" ? undefined : true;
      await this.#admission.admitKey(address, release, list);
      return true;
    } catch (error) {
      if (!(error instanceof ProvenderError)) throw error;
      return couldNotTell(error) ? undefined : false;
    }
  }

  async #oldEnough(
    provider: ProviderAddress,
    list: VersionList,
    versions: readonly Version[],
    deadline: number,
  ): Promise<readonly Version[]> {
    return keepOldEnough(versions, async (version) => {
      const address = { provider, version };
      try {
        const release =
          (await this.#lookup.peek(address)) ??
          (await this.#findInTime(address, deadline));
        return (
          release !== undefined &&
          this.#admission.isOldEnough(address, release, list)
        );
      } catch (error) {
        if (error instanceof ProvenderError) return false;
        throw error;
      }
    });
  }

  /** Undefined when the deadline passes first; the look-up goes on for the next listing. */
  async #findInTime(
    address: ReleaseAddress,
    deadline: number,
  ): Promise<Release | undefined> {
    const left = deadline - performance.now();
    if (left <= 0) return undefined;
    const late = Promise.withResolvers<undefined>();
    const timer = setTimeout(() => late.resolve(undefined), left);
    try {
      return await Promise.race([this.#lookup.find(address), late.promise]);
    } finally {
      clearTimeout(timer);
    }
  }
}

interface Trusted {
  readonly versions: readonly Version[];
  /** False when some version was left out because nobody could tell in time. */
  readonly complete: boolean;
}

/** `new`: appeared after first contact, so its key must be seen before it is listed. `known`: refused, or perhaps refused since. */
type Suspicion = "none" | "known" | "new";

function findSuspicion(
  { type }: ProviderAddress,
  list: VersionList,
  version: Version,
  trust: NamespaceTrust,
): Suspicion {
  if (list.versions.get(version)?.appeared !== undefined) return "new";
  const isHeldBack = trust.seen.quarantined.some((held) =>
    isSameRelease(held, { type, version }),
  );
  return isHeldBack || revokedKeys(trust).size > 0 ? "known" : "none";
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
