import { quoteDecision } from "../../address/spec.ts";
import { SingleFlight } from "../../concurrency/single-flight.ts";
import { failure } from "../../errors/index.ts";
import { asStoreFull } from "../../store/file-failure.ts";
import { findKeyDecision } from "../../trust/decisions.ts";
import { findKnownKey, findRevokedContent } from "../../trust/key-verdict.ts";
import { learnProviderKey } from "../../trust/first-contact.ts";
import { settle, type Settled } from "../../trust/settle.ts";
import type { Refused, ReleaseQuestion } from "../../trust/standing.ts";
import type { FirstContact } from "../../trust/state.ts";
import type { Kept, MetadataCache } from "../cache/metadata-cache.ts";
import {
  type StoredEvidence,
  joinReleases,
  viewOf,
  type KnownRelease,
} from "../releases/evidence.ts";
import type { ReleaseRecords } from "../releases/records.ts";
import {
  formatRelease,
  type Release,
  type ReleaseAddress,
} from "../releases/release.ts";
import type { VersionList } from "../versions/version-list.ts";
import type { Notebook, TrustEvents } from "./trust-events.ts";
import { keyRulesOf, youthOf } from "./admission-rules.ts";
import type { ReleaseRequest } from "./admission.ts";

/** Inputs of the decision on a release, beside the request. */
export interface SettledBy {
  readonly contact: FirstContact;
  /** Undefined when no list was ever seen. */
  readonly list: VersionList | undefined;
}

interface SettlementsParts {
  readonly releases: MetadataCache<ReleaseAddress, KnownRelease>;
  readonly records: ReleaseRecords;
  readonly events: TrustEvents;
  readonly notebook: Notebook;
}

/** What a decision was about has been decided by another process. */
class Forestalled extends Error {}

/** Attempts at a decision while other processes write the same record. */
const mostTries = 8;

/**
 * The one place where releases are admitted: verify, admit, pin, answer. It runs
 * the core on what is known, writes, and answers with what clients get.
 */
export class Settlements {
  readonly #parts: SettlementsParts;
  readonly #writing = new SingleFlight<string, KnownRelease | undefined>();

  constructor(parts: SettlementsParts) {
    this.#parts = parts;
  }

  async settle(
    request: ReleaseRequest,
    known: KnownRelease,
    by: SettledBy,
  ): Promise<Release> {
    const { address } = request;
    const name = formatRelease(address);
    let now = known;
    for (let tries = 0; tries < mostTries; tries++) {
      const settled = settle(this.#ask(request, now, by));
      const isWritten =
        settled.release === now.trust && settled.firstSigner === undefined;
      if (isWritten) return answer(request, now, settled, by);
      const before = now;
      const written = await this.#writing.run(name, () =>
        this.#write(request, before, settled).catch((error: unknown) => {
          throw asStoreFull(name, error);
        }),
      );
      if (written === undefined) await request.entry.renew();
      const other = written
        ? undefined
        : await this.#parts.releases.peek(address);
      now =
        written ?? (other ? joinReleases(other, now) : { ...now, revision: 0 });
    }
    throw failure("too-busy", `writers of ${name}`);
  }

  /** Lists the digests that clients would get, and changes nothing. */
  preview(
    request: ReleaseRequest,
    known: KnownRelease,
    by: SettledBy,
  ): ReadonlySet<string> {
    const { standing } = settle(this.#ask(request, known, by));
    const packages = standing.kind === "served" ? standing.packages : undefined;
    return new Set(packages?.values().map(({ sha256 }) => sha256));
  }

  /** Writes the decision together with what it teaches and what people hear of it; undefined, and nothing is written, where another one was first. */
  async #write(
    { address, entry }: ReleaseRequest,
    known: KnownRelease,
    { release: trust, events: heard, firstSigner }: Settled<StoredEvidence>,
  ): Promise<KnownRelease | undefined> {
    const { releases, records, events } = this.#parts;
    const { provider, version } = address;
    const own = { type: provider.type, version };
    const beside = async () => {
      if (firstSigner !== undefined)
        await entry.change((namespace) => {
          const learnt = learnProviderKey(namespace, own, firstSigner);
          // Another key became the first one meanwhile.
          if (learnt === namespace) throw new Forestalled();
          return learnt;
        });
      for (const event of heard) await events.note(address, event);
    };
    const ours = { ...known, trust };
    const write = (kept: Kept<KnownRelease>) =>
      records.decide(address, kept, beside).catch((error: unknown) => {
        if (error instanceof Forestalled) return undefined;
        throw error;
      });
    return releases.replace(address, ours, write);
  }

  #ask(
    { address, entry, rules, decision }: ReleaseRequest,
    { trust: release }: KnownRelease,
    { contact, list }: SettledBy,
  ): ReleaseQuestion<StoredEvidence> {
    const { provider, version } = address;
    const listed = list?.versions.get(version);
    const seenAt = contact.versions.has(version)
      ? undefined
      : (listed?.appeared ?? list?.firstContact);
    return {
      name: { type: provider.type, version },
      namespace: entry.trust,
      contact,
      release,
      rules: keyRulesOf(rules, provider),
      age: {
        minimumAge: decision.minimumAge,
        isUnlisted: listed === undefined && !rules.offline,
        seenAt,
        now: this.#parts.notebook.clock.now(),
      },
      enforcesAge: rules.report === undefined,
    };
  }
}

/** What clients get, or its refusal. */
function answer(
  request: ReleaseRequest,
  known: KnownRelease,
  { standing }: Settled<StoredEvidence>,
  { list }: SettledBy,
): Release {
  const { address } = request;
  if (standing.kind === "refused") throw refusalOf(request, known, standing);
  const listed = list?.versions.get(address.version)?.platforms;
  const release =
    standing.kind === "served" ? viewOf(known, standing, listed) : undefined;
  if (standing.kind === "empty" || release === undefined)
    throw failure("not-found", formatRelease(address));
  return release;
}

function refusalOf(
  request: ReleaseRequest,
  { trust: release }: KnownRelease,
  { because, evidence, age }: Refused<StoredEvidence>,
) {
  const { address, entry, decision: rule } = request;
  const { provider, version } = address;
  const { fault, signedBy = "none", sha256sums } = evidence;
  if (because === "signature")
    return fault ?? failure("not-found", formatRelease(address));
  if (because === "age") {
    const youth = age.old ? { availableAt: undefined } : age;
    return youthOf(provider, version, rule, youth);
  }
  if (because === "other-content")
    return failure("release-conflict", address, sha256sums);
  const { trust: namespace } = entry;
  const name = { type: provider.type, version };
  const decision =
    because === "revoked"
      ? findKeyDecision(namespace.decisions, because, name, evidence.signedBy)
      : findRevokedContent({ namespace, name, release }, evidence);
  const said = decision && quoteDecision(provider, decision);
  return because === "revoked-content"
    ? failure("content-revoked", address, sha256sums, said)
    : failure(
        ...(["key-refused", address, signedBy, because, sha256sums] as const),
        ...([said, findKnownKey(provider)] as const),
      );
}
