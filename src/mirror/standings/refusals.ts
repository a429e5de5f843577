import { isDeepStrictEqual } from "node:util";
import { LRUCache } from "lru-cache";
import * as z from "zod";
import {
  formatProviderAddress,
  type ProviderAddress,
} from "../../address/provider-address.ts";
import type { Version } from "../../address/version.ts";
import {
  isCut,
  isFailure,
  isOriginFailure,
  isUnread,
  ProvenderError,
} from "../../errors/index.ts";
import type {
  RecordKey,
  RecordStore,
} from "../../store/records/record-store.ts";
import type { Clock } from "../cache/clock.ts";
import type { ProviderChanges } from "../cache/provider-changes.ts";

/** The code of a version's refusal, and when it was first refused for that. */
const refusal = z.object({
  code: z.string(),
  since: z.iso.datetime().transform((text) => new Date(text)),
});

/** The versions of a provider that clients did not get when they were asked for last. */
type Refusals = ReadonlyMap<string, z.infer<typeof refusal>>;

/** Providers in memory; bounded because clients may request any. */
const mostProviders = 1_000;

interface RefusedVersionsParts {
  readonly records: RecordStore;
  readonly clock: Clock;
  readonly changes: ProviderChanges;
  readonly onUnwritten: (provider: string, error: unknown) => void;
}

/** Refused versions by provider, on record, since nothing else is known of most of them. */
export class RefusedVersions {
  readonly #parts: RefusedVersionsParts;
  readonly #memory = new LRUCache<
    string,
    { readonly refusals: Refusals; isCurrent: boolean }
  >({ max: mostProviders });

  constructor(parts: RefusedVersionsParts) {
    this.#parts = parts;
  }

  /** Looks at the records of every provider again: other processes may have changed them. */
  forget(): void {
    for (const known of this.#memory.values()) known.isCurrent = false;
  }

  /** The same object while nothing changes. A record that cannot be read costs look-ups alone. */
  async list(provider: ProviderAddress): Promise<Refusals> {
    const { records } = this.#parts;
    const name = formatProviderAddress(provider);
    const before = this.#memory.get(name);
    if (before?.isCurrent === true) return before.refusals;
    const read = await records
      .read(recordKey(provider), readBody)
      .catch((error: unknown) => {
        if (isUnread(error)) return before?.refusals;
        throw error;
      });
    // A note that was made during the read is newer.
    const meanwhile = this.#memory.get(name);
    if (meanwhile !== undefined && meanwhile !== before)
      return meanwhile.refusals;
    const isSame = isDeepStrictEqual(before?.refusals, read);
    return this.#remember(name, isSame ? before?.refusals : read);
  }

  /** Notes how a version was answered; undefined for one that was served. */
  async note(
    provider: ProviderAddress,
    version: string,
    code: string | undefined,
  ): Promise<void> {
    const before = await this.list(provider);
    if (before.get(version)?.code === code) return;
    const name = formatProviderAddress(provider);
    const since = this.#parts.clock.now();
    const change = (refusals: Refusals | undefined): Refusals => {
      const changed = new Map(refusals);
      if (code === undefined) changed.delete(version);
      else changed.set(version, { code, since });
      return changed;
    };
    // Others may have noted something while the list was read.
    this.#remember(name, change(this.#memory.get(name)?.refusals ?? before));
    await this.#parts.records
      .change(recordKey(provider), readBody, (body) =>
        Object.fromEntries(change(body)),
      )
      .catch((error: unknown) => this.#parts.onUnwritten(name, error));
  }

  #remember(name: string, refusals: Refusals = new Map()): Refusals {
    if (this.#memory.peek(name)?.refusals !== refusals)
      this.#parts.changes.note(name);
    this.#memory.set(name, { refusals, isCurrent: true });
    return refusals;
  }
}

const shape = z.record(z.string(), refusal);

function readBody(body: unknown): Refusals {
  return new Map(Object.entries(shape.parse(body)));
}

function recordKey({ hostname, namespace, type }: ProviderAddress): RecordKey {
  return ["refused_versions", hostname, namespace, type];
}

/**
 * True for a failure that proves nothing about a release. A refusal, an
 * absence, or a document that stays unusable does.
 */
export function saysNothing(error: unknown): boolean {
  if (isFailure(error, "origin-answer")) return isCut(error);
  return (
    isOriginFailure(error) ||
    isFailure(error, "too-busy", "store-full") ||
    isUnread(error)
  );
}

/** The code of a refusal; undefined for a failure that says nothing, and for a release that is too young, which its age leaves out. */
export function refusalOf(error: unknown): string | undefined {
  const isRefusal =
    error instanceof ProvenderError &&
    !isFailure(error, "too-young", "not-stored") &&
    !saysNothing(error);
  return isRefusal ? error.code : undefined;
}

/** Newest versions that have no documents at once only where the origin fails. */
const mostAtOnce = 3;
/** Milliseconds within which they were found so. */
const oneLook = 3_600_000;

/**
 * The newest versions, where all of them were found to have no documents in one
 * look: an origin that answers 404 to everything is failing. Empty otherwise.
 */
export function listVanished(
  newestFirst: readonly Version[],
  refusals: Refusals,
): readonly Version[] {
  const newest = newestFirst.slice(0, mostAtOnce);
  const found = newest.flatMap((version) => {
    const { code, since } = refusals.get(version) ?? {};
    return code === "not-found" && since ? [since.getTime()] : [];
  });
  const isOneLook = Math.max(...found) - Math.min(...found) <= oneLook;
  return found.length === mostAtOnce && isOneLook ? newest : [];
}
