import { isDeepStrictEqual } from "node:util";
import { z } from "zod";
import type { Hostname } from "../../address/hostname.ts";
import {
  providerAddress,
  type ProviderAddress,
} from "../../address/provider-address.ts";
import { parseSha256, type Sha256 } from "../../address/hash.ts";
import { formatArchiveName } from "../../address/archive-name.ts";
import { parsePlatform, type Platform } from "../../address/platform.ts";
import { isVersion, type Version } from "../../address/version.ts";
import { failure, ifAddress, ProvenderError } from "../../errors/index.ts";
import type { RecordKey } from "../../store/layout.ts";
import type { RecordStore } from "../../store/records/record-store.ts";
import { laterOf, type Clock } from "../cache/clock.ts";
import type { Kept, MetadataRecords } from "../cache/metadata-cache.ts";
import { agrees, widen } from "../../trust/content.ts";
import type { PinnedChecksums } from "../../trust/state.ts";
import {
  faultyEvidence,
  goodEvidence,
  readContent,
  type KnownRelease,
  type StoredEvidence,
} from "./known-release.ts";
import {
  formatRelease,
  type ReleaseAddress,
  type ReleaseProof,
} from "./release.ts";
import {
  judgeProof,
  matchesPolicy,
  ownBytes,
  prepareProof,
  type SignatureJudge,
  type SignaturePolicy,
} from "./verdict.ts";

/** Terms on which evidence that is read back has to hold. */
interface JudgingTerms {
  readonly judge: SignatureJudge;
  readonly policyOf: (hostname: Hostname) => SignaturePolicy;
  readonly clock: Clock;
}

/** A record of a release for people: nothing of it is judged. */
export interface DescribedRelease {
  readonly firstSeen: Date | undefined;
  /** Fingerprint of the primary key that it was admitted under. */
  readonly signedBy: string | undefined;
  /** Pinned digests, by platform. */
  readonly packages: readonly DescribedPackage[];
}

export interface DescribedPackage {
  readonly platform: Platform;
  readonly filename: string;
  readonly sha256: Sha256;
}

/** Releases on disk with their evidence, which is judged again when it is read. */
export class ReleaseRecords implements MetadataRecords<
  ReleaseAddress,
  KnownRelease
> {
  readonly #records: RecordStore;
  readonly #terms: JudgingTerms;

  constructor(records: RecordStore, terms: JudgingTerms) {
    this.#records = records;
    this.#terms = terms;
  }

  format(release: ReleaseAddress): string {
    return formatRelease(release);
  }

  weigh({ trust, places, keys }: KnownRelease): number {
    const urls = [...places.values()].reduce((sum, url) => sum + url.length, 0);
    const blocks = keys.reduce((sum, key) => sum + key.length, 0);
    const evidence = trust.evidence.reduce(
      (sum, { proof, content }) =>
        sum + 512 * content.size + 4 * proof.document.length,
      0,
    );
    return 4096 + urls + blocks + evidence;
  }

  async read(address: ReleaseAddress): Promise<Kept<KnownRelease> | undefined> {
    const body = await this.#readBody(address);
    if (body === undefined) return undefined;
    const { confirmedAt, pinned, published, keys, offered } = body;
    const evidence = await Promise.all(
      body.evidence.map((one) => this.#judge(address, one)),
    );
    const value = {
      trust: { pinned, evidence, published: new Set(published) },
      keys,
      offered: offered && new Set(offered),
      places: new Map<string, string>(),
    };
    return { value, confirmedAt };
  }

  async describe(
    address: ReleaseAddress,
  ): Promise<DescribedRelease | undefined> {
    const pinned = (await this.#readBody(address))?.pinned;
    if (pinned === undefined) return undefined;
    const { provider, version } = address;
    const packages = [...pinned.content]
      .toSorted(([a], [b]) => (a < b ? -1 : 1))
      .map(([name, sha256]) => {
        const platform = parsePlatform(name);
        const filename = formatArchiveName(provider, version, platform);
        return { platform, filename, sha256 };
      });
    const { at: firstSeen, signedBy } = pinned;
    return { firstSeen, signedBy, packages };
  }

  /** Lists the archives that the record names, pinned or not, by digest with their file names. */
  async readDigests(
    address: ReleaseAddress,
  ): Promise<ReadonlyMap<Sha256, string>> {
    const body = await this.#readBody(address);
    if (body === undefined) return new Map();
    const offered = body.evidence.map((one) =>
      readContent(address, readProof(one)),
    );
    const { provider, version } = address;
    return new Map(
      [...offered, body.pinned?.content ?? new Map<string, Sha256>()].flatMap(
        (content) =>
          [...content].map(([name, sha256]) => {
            const platform = parsePlatform(name);
            const filename = formatArchiveName(provider, version, platform);
            return [sha256, filename] as const;
          }),
      ),
    );
  }

  /**
   * Joins the release with the record as other replicas wrote it since it was
   * `known`. Nothing is recorded of an unverified release.
   */
  async write(
    address: ReleaseAddress,
    kept: Kept<KnownRelease>,
    known: KnownRelease | undefined,
  ): Promise<Kept<KnownRelease>> {
    let joined = { value: kept.value, isRead: true };
    const { confirmedAt } = kept;
    await this.#records.change(
      recordKey(address),
      readReleaseBody,
      (before) => {
        joined = joinReleases(address, kept.value, known, before);
        if (before === undefined && !isJudged(kept.value)) return before;
        const next = writeReleaseBody({ value: joined.value, confirmedAt });
        return isUnchanged(before, next) ? before : next;
      },
    );
    const own = { value: joined.value, confirmedAt };
    return joined.isRead ? own : ((await this.read(address)) ?? own);
  }

  /** The first `most` providers with a release on record, by name. */
  async listProviders(most: number): Promise<readonly ProviderAddress[]> {
    const found: ProviderAddress[] = [];
    for (const hostname of await this.#folders("providers"))
      for (const namespace of await this.#folders("providers", hostname))
        for (const type of await this.#folders(
          "providers",
          hostname,
          namespace,
        ))
          if (found.length < most)
            found.push(...asProvider(hostname, namespace, type));
    return found;
  }

  /** The versions of a provider on record, in no order. */
  async list(provider: ProviderAddress): Promise<readonly Version[]> {
    const names = await this.#records.list(recordFolderKey(provider));
    return names.filter(isVersion);
  }

  #readBody(address: ReleaseAddress): Promise<ReleaseBody | undefined> {
    return this.#records.read(recordKey(address), readReleaseBody);
  }

  /** Evidence that does not hold on today's terms is kept: it may hold again. */
  async #judge(
    address: ReleaseAddress,
    body: EvidenceBody,
  ): Promise<StoredEvidence> {
    const { keyLabels, noted } = body;
    const recorded = readProof(body);
    try {
      const proof = this.#onPresentTerms(address, recorded);
      const checksums = await judgeProof(address, proof, this.#terms.judge);
      return { ...goodEvidence(address, proof, keyLabels, checksums), noted };
    } catch (error) {
      if (!(error instanceof ProvenderError)) throw error;
      return {
        ...faultyEvidence(address, recorded, keyLabels, body, error),
        noted,
      };
    }
  }

  /**
   * Renews a verdict that was reached under another profile, as of now or,
   * where the clock was set back, as of then.
   */
  #onPresentTerms(
    address: ReleaseAddress,
    proof: StoredEvidence["proof"],
  ): StoredEvidence["proof"] {
    const { judge, clock, policyOf } = this.#terms;
    const policy = policyOf(address.provider.hostname);
    return matchesPolicy(proof, policy)
      ? proof
      : prepareProof(
          ...([address, proof, policy, judge.library] as const),
          laterOf(proof.verifiedAt, clock.now()),
        );
  }

  async #folders(...prefix: RecordKey): Promise<readonly string[]> {
    return (await this.#records.folders(prefix)).toSorted();
  }
}

function isJudged({ trust: { pinned, evidence } }: KnownRelease): boolean {
  return pinned !== undefined || evidence.some(({ noted }) => noted);
}

/** Returns none for a folder of another program. */
function asProvider(
  ...parts: Parameters<typeof providerAddress>
): readonly ProviderAddress[] {
  return ifAddress(() => [providerAddress(...parts)]) ?? [];
}

function recordFolderKey(provider: ProviderAddress): RecordKey {
  const { hostname, namespace, type } = provider;
  return ["providers", hostname, namespace, type, "releases"];
}

export function recordKey({ provider, version }: ReleaseAddress): RecordKey {
  return [...recordFolderKey(provider), version];
}

const moment = z.iso.datetime().transform((text) => new Date(text));
const text = z.string();
const sha256 = text.transform(parseSha256);
const optional = <T extends z.ZodType>(shape: T) =>
  shape.nullable().transform((value) => value ?? undefined);

/** Digests by OS_ARCH. */
const content = z
  .record(text, sha256)
  .transform((digests) => new Map(Object.entries(digests)));

const label = text.optional();

const evidenceShape = z.object({
  document: text,
  signature: optional(z.base64()),
  keys: z.array(text),
  profile: z.enum(["terraform", "opentofu", "enforce", "strict"]),
  exemption: optional(z.enum(["unsigned-when-published", "signatures-off"])),
  verifiedAt: moment,
  library: text,
  signedBy: optional(text),
  signedAt: optional(moment),
  keyLabels: z.array(
    z
      .object({
        id: label,
        trustSignature: label,
        source: label,
        sourceUrl: label,
      })
      .transform(({ id, trustSignature, source, sourceUrl }) => ({
        ...{ id, trustSignature, source, sourceUrl },
      })),
  ),
  noted: optional(
    z.enum([
      ...["configured", "approved", "known", "same-digests", "existed"],
      ...["first-key", "new", "signatures-off", "unsigned"],
      ...["revoked", "revoked-content", "not-pinned", "unknown"],
      ...["other-content", "signature"],
    ] as const),
  ),
});

const releaseShape = z.object({
  confirmedAt: moment,
  pinned: optional(
    z.object({
      content,
      sha256sums: text,
      signedBy: optional(text),
      at: moment,
      isAudited: z.boolean(),
    }),
  ),
  evidence: z.array(evidenceShape),
  published: z.array(text),
  keys: z.array(text),
  offered: optional(z.array(text)),
});

/** The record of a release. */
type ReleaseBody = Readonly<z.infer<typeof releaseShape>>;
type EvidenceBody = ReleaseBody["evidence"][number];

export function readReleaseBody(body: unknown): ReleaseBody {
  return releaseShape.parse(body);
}

function writeReleaseBody({
  value: { trust, keys, offered },
  confirmedAt,
}: Kept<KnownRelease>) {
  const { pinned, evidence, published } = trust;
  return {
    confirmedAt: confirmedAt.toISOString(),
    pinned: pinned === undefined ? null : writePinned(pinned),
    evidence: evidence.map(writeEvidence),
    published: [...published],
    keys,
    offered: offered === undefined ? null : [...offered],
  };
}

function readProof(evidence: EvidenceBody): ReleaseProof {
  const { keys, profile, exemption, verifiedAt, library } = evidence;
  const { document, signature } = evidence;
  return {
    ...{ keys, profile, exemption, verifiedAt, library },
    ...ownBytes({
      document: Buffer.from(document, "utf8"),
      signature:
        signature === undefined ? undefined : Buffer.from(signature, "base64"),
    }),
  };
}

/** Milliseconds after which a record is written again although nothing in it is new. */
const worthWriting = 1_000;

/** True for a body that repeats a recent record. */
function isUnchanged(before: ReleaseBody | undefined, body: unknown): boolean {
  if (before === undefined) return false;
  const next = releaseShape.parse(body);
  const { confirmedAt } = before;
  const later = next.confirmedAt.getTime() - confirmedAt.getTime();
  const isLate = later < 0 || later >= worthWriting;
  return !isLate && isDeepStrictEqual(before, { ...next, confirmedAt });
}

function writePinned(pinned: NonNullable<KnownRelease["trust"]["pinned"]>) {
  return {
    ...pinned,
    content: Object.fromEntries(pinned.content),
    signedBy: pinned.signedBy ?? null,
    at: pinned.at.toISOString(),
  };
}

function writeEvidence(evidence: StoredEvidence) {
  const { proof, signedBy, signedAt, keyLabels, noted } = evidence;
  const { document, signature, exemption, verifiedAt, ...terms } = proof;
  const { keys, profile, library } = terms;
  return {
    ...{ keys, profile, library },
    document: Buffer.from(document).toString("utf8"),
    signature:
      signature === undefined
        ? null
        : Buffer.from(signature).toString("base64"),
    exemption: exemption ?? null,
    verifiedAt: verifiedAt.toISOString(),
    signedBy: signedBy ?? null,
    signedAt: writeDate(signedAt),
    keyLabels: keyLabels.map((one) =>
      Object.fromEntries(
        Object.entries(one).filter(([, value]) => value !== undefined),
      ),
    ),
    noted: noted ?? null,
  };
}

/** Formats a date. A signature's date may exceed the range of dates. */
function writeDate(date: Date | undefined): string | null {
  return date === undefined || Number.isNaN(date.getTime())
    ? null
    : date.toISOString();
}

/**
 * Joins a release to its record, which another replica may have
 * changed since it was `known`. Pinned checksums on record stay, and evidence
 * is added. Evidence of other replicas has to be read again before it counts.
 */
function joinReleases(
  address: ReleaseAddress,
  ours: KnownRelease,
  known: KnownRelease | undefined,
  recorded: ReleaseBody | undefined,
): { readonly value: KnownRelease; readonly isRead: boolean } {
  if (recorded === undefined) return { value: ours, isRead: true };
  const ids = new Set(
    [ours, known].flatMap((one) =>
      (one?.trust.evidence ?? []).map(({ id }) => id),
    ),
  );
  const others = recorded.evidence
    .map((body) => asUnread(address, body))
    .filter(({ id }) => !ids.has(id));
  const pinned = joinPinned(ours.trust.pinned, recorded.pinned);
  const evidence = [...others, ...ours.trust.evidence];
  const trust = { ...ours.trust, pinned, evidence };
  const offered = joinOffered(ours.offered, recorded.offered);
  const isRead = others.length === 0;
  const isOurs =
    isRead && pinned === ours.trust.pinned && offered === ours.offered;
  return {
    value: isOurs ? ours : { ...ours, trust, offered },
    isRead,
  };
}

/** Joins the platforms ever offered; unknown if either side is. */
function joinOffered(
  ours: KnownRelease["offered"],
  recorded: ReleaseBody["offered"],
): KnownRelease["offered"] {
  if (ours === undefined || recorded === undefined) return undefined;
  const isWider = recorded.some((platform) => !ours.has(platform));
  return isWider ? new Set([...recorded, ...ours]) : ours;
}

function joinPinned(
  ours: PinnedChecksums | undefined,
  recorded: PinnedChecksums | undefined,
): PinnedChecksums | undefined {
  if (recorded === undefined || ours === undefined) return recorded ?? ours;
  if (!agrees(recorded.content, ours.content)) return recorded;
  const content = widen(recorded.content, ours.content);
  const isAudited = recorded.isAudited || ours.isAudited;
  const isOurs =
    ours.sha256sums === recorded.sha256sums &&
    ours.isAudited === isAudited &&
    ours.content.size === content.size;
  return isOurs ? ours : { ...recorded, content, isAudited };
}

function asUnread(
  address: ReleaseAddress,
  body: ReleaseBody["evidence"][number],
): StoredEvidence {
  const fault = failure(
    "signature-undecided",
    formatRelease(address),
    "not read yet",
  );
  const { keyLabels, noted } = body;
  const proof = readProof(body);
  return { ...faultyEvidence(address, proof, keyLabels, body, fault), noted };
}
