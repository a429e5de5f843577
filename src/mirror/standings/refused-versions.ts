import { isDeepStrictEqual } from "node:util";
import { LRUCache } from "lru-cache";
import { z } from "zod";
import {
  formatProviderAddress,
  type ProviderAddress,
} from "../../address/provider-address.ts";
import { isBucketFailure, isFailure } from "../../errors/index.ts";
import type { RecordKey } from "../../store/layout.ts";
import type { RecordStore } from "../../store/records/record-store.ts";
import type { Clock } from "../cache/clock.ts";
import type { Version } from "../../address/version.ts";

/** `phantom`: its registry lists it and has no documents of it, and it was never verified here. */
const kinds = ["refused", "phantom"] as const;

export type RefusalKind = (typeof kinds)[number];

interface Refusal {
  readonly kind: RefusalKind;
  /** Time of its first refusal for this reason. */
  readonly since: Date;
}

/** The versions of a provider that clients did not get when they were asked for last. */
export type Refusals = ReadonlyMap<string, Refusal>;

const shape = z.record(
  z.string(),
  z.object({
    kind: z.enum(kinds),
    since: z.iso.datetime().transform((text) => new Date(text)),
  }),
);

/** Providers in memory; bounded because clients may request any. */
const mostProviders = 1_000;
/** Milliseconds after which a replica sees what another one noted. */
const lookAgain = 10_000;

interface Remembered {
  readonly refusals: Refusals;
  /** Time on the monotonic clock. */
  readonly readAt: number;
}

interface RefusedVersionsParts {
  readonly records: RecordStore;
  readonly clock: Clock;
  /** Replicas write as well. */
  readonly shared: boolean;
  readonly onUnwritten: (provider: string, error: unknown) => void;
  readonly onPhantom: (release: string) => void;
}

/** Refused versions by provider, which a list checks before it names them. */
export class RefusedVersions {
  readonly #parts: RefusedVersionsParts;
  readonly #memory = new LRUCache<string, Remembered>({ max: mostProviders });

  constructor(parts: RefusedVersionsParts) {
    this.#parts = parts;
  }

  /** Lists them; the same object while nothing changes. A record that cannot be read costs look-ups alone. */
  async list(provider: ProviderAddress): Promise<Refusals> {
    const { clock, shared } = this.#parts;
    const known = this.#memory.get(formatProviderAddress(provider));
    const isFresh =
      known !== undefined &&
      (!shared || clock.monotonic() - known.readAt < lookAgain);
    return isFresh ? known.refusals : this.#read(provider);
  }

  /** Notes how a version was answered; undefined for one that was served. */
  async note(
    provider: ProviderAddress,
    version: string,
    kind: RefusalKind | undefined,
  ): Promise<void> {
    const before = await this.list(provider);
    if (before.get(version)?.kind === kind) return;
    const name = formatProviderAddress(provider);
    if (kind === "phantom") this.#parts.onPhantom(`${name} ${version}`);
    const now = this.#parts.clock.now();
    const change = (refusals: Refusals) =>
      withRefusal(refusals, version, kind && { kind, since: now });
    // Others may have noted something while the list was read.
    this.#remember(name, change(this.#memory.get(name)?.refusals ?? before));
    await this.#parts.records
      .change(recordKey(provider), readBody, (body) =>
        writeBody(change(body ?? new Map())),
      )
      .catch((error: unknown) => this.#parts.onUnwritten(name, error));
  }

  async #read(provider: ProviderAddress): Promise<Refusals> {
    const name = formatProviderAddress(provider);
    const before = this.#memory.get(name);
    const read = await this.#parts.records
      .read(recordKey(provider), readBody)
      .catch((error: unknown) => {
        if (isUnreadable(error)) return before?.refusals;
        throw error;
      });
    // A note made during the read is newer.
    const meanwhile = this.#memory.get(name);
    if (meanwhile !== before && meanwhile !== undefined)
      return meanwhile.refusals;
    const refusals = read ?? new Map<string, Refusal>();
    const isSame = isDeepStrictEqual(before?.refusals, refusals);
    return this.#remember(name, isSame && before ? before.refusals : refusals);
  }

  #remember(name: string, refusals: Refusals): Refusals {
    const readAt = this.#parts.clock.monotonic();
    this.#memory.set(name, { refusals, readAt });
    return refusals;
  }
}

function withRefusal(
  refusals: Refusals,
  version: string,
  refusal: Refusal | undefined,
): Refusals {
  const others = [...refusals].filter(([one]) => one !== version);
  return new Map(refusal ? [...others, [version, refusal]] : others);
}

function readBody(body: unknown): Refusals {
  return new Map(Object.entries(shape.parse(body)));
}

function writeBody(refusals: Refusals): object {
  const entries = Array.from(refusals, ([version, { kind, since }]) => [
    version,
    { kind, since: since.toISOString() },
  ]);
  return Object.fromEntries(entries) as object;
}

function isUnreadable(error: unknown): boolean {
  return isFailure(error, "record-unreadable") || isBucketFailure(error);
}

function recordKey({ hostname, namespace, type }: ProviderAddress): RecordKey {
  return ["refused-versions", hostname, namespace, type];
}

/** Newest versions that have no documents at once only where the origin fails. */
const mostAtOnce = 3;
/** Milliseconds within which they were found so in one look. */
const oneLook = 3_600_000;

/**
 * The newest versions, where all of them were found to be phantoms in one look: an
 * origin that answers 404 to everything is failing, and what it lists stays listed.
 * Empty otherwise.
 */
export function listVanishing(
  newestFirst: readonly Version[],
  refusals: Refusals,
): readonly Version[] {
  const newest = newestFirst.slice(0, mostAtOnce);
  const found = newest.flatMap((version) => {
    const { kind, since } = refusals.get(version) ?? {};
    return kind === "phantom" && since ? [since.getTime()] : [];
  });
  const isOneLook = Math.max(...found) - Math.min(...found) <= oneLook;
  return found.length === mostAtOnce && isOneLook ? newest : [];
}
