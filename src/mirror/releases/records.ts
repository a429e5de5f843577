import { isDeepStrictEqual } from "node:util";
import { z } from "zod";
import type { Hostname } from "../../address/hostname.ts";
import {
  providerAddress,
  type ProviderAddress,
} from "../../address/provider-address.ts";
import { parseSha256, type Sha256 } from "../../address/hash.ts";
import { formatArchiveName } from "../../address/archive-name.ts";
import { parsePlatform } from "../../address/platform.ts";
import { isVersion, type Version } from "../../address/version.ts";
import { failure, ifAddress, ProvenderError } from "../../errors/index.ts";
import type { RecordKey } from "../../store/layout.ts";
import type { RecordStore } from "../../store/records/record-store.ts";
import { laterOf, type Clock } from "../cache/clock.ts";
import type { Kept, MetadataRecords } from "../cache/metadata-cache.ts";
import type { Candidate } from "../../trust/candidates.ts";
import { agrees, widen } from "../../trust/content.ts";
import type { ReleaseName } from "../../trust/decisions.ts";
import { isCandidate } from "../../trust/standing.ts";
import type { PinnedChecksums } from "../../trust/state.ts";
import {
  digestOf,
  faultyEvidence,
  judgeEvidence,
  readContent,
  type StoredEvidence,
  matchesPolicy,
  ownBytes,
  prepareProof,
  type SignatureJudge,
  type SignaturePolicy,
} from "./evidence.ts";
import type { KnownRelease } from "./known-release.ts";
import {
  formatRelease,
  type ReleaseAddress,
  type ReleaseProof,
} from "./release.ts";

/** Terms on which evidence that is read back has to hold. */
interface JudgingTerms {
  readonly judge: SignatureJudge;
  readonly policyOf: (hostname: Hostname) => SignaturePolicy;
  readonly clock: Clock;
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

  key(release: ReleaseAddress): RecordKey {
    return recordKey(release);
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

  /** The content that was admitted first, as it is on record. */
  async readPinned(
    address: ReleaseAddress,
  ): Promise<PinnedChecksums | undefined> {
    return (await this.#readBody(address))?.pinned;
  }

  /** Lists the archives that the record names, pinned or not, by digest with their file names. */
  async readDigests(
    address: ReleaseAddress,
  ): Promise<ReadonlyMap<Sha256, string>> {
    const body = await this.#readBody(address);
    const offered = body?.evidence.map((one) =>
      readContent(address, readProof(one)),
    );
    const contents = [...(offered ?? []), body?.pinned?.content ?? []];
    const { provider, version } = address;
    return new Map(
      contents
        .flatMap((content) => [...content])
        .map(([name, sha256]) => [
          sha256,
          formatArchiveName(provider, version, parsePlatform(name)),
        ]),
    );
  }

  /**
   * Joins the release with the record as other processes wrote it since it was
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

  /**
   * Writes a decision and what `beside` writes, in one transaction. Undefined, and nothing is written, where other
   * processes wrote something that was not `known` to it.
   */
  decide(
    address: ReleaseAddress,
    kept: Kept<KnownRelease>,
    known: KnownRelease,
    beside: () => Promise<void>,
  ): Promise<Kept<KnownRelease> | undefined> {
    const { value } = kept;
    return this.#records.transact(async () => {
      let joined = value;
      await this.#records.change(
        recordKey(address),
        readReleaseBody,
        (before) => {
          joined = joinReleases(address, value, known, before).value;
          return joined === value ? writeReleaseBody(kept) : before;
        },
      );
      if (joined !== value) return undefined;
      await beside();
      return kept;
    });
  }
  /** The providers with a release on record, by name. */
  async listProviders(): Promise<readonly ProviderAddress[]> {
    const found: ProviderAddress[] = [];
    const list = async (...prefix: RecordKey) =>
      (await this.#records.folders(prefix)).toSorted();
    for (const hostname of await list("providers"))
      for (const namespace of await list("providers", hostname))
        for (const type of await list("providers", hostname, namespace))
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

  /**
   * A verdict that was reached under another profile is renewed, as of now or,
   * where the clock was set back, as of then. Evidence that does not hold on
   * today's terms is kept: it may hold again.
   */
  async #judge(
    address: ReleaseAddress,
    body: EvidenceBody,
  ): Promise<StoredEvidence> {
    const { keyLabels, noted } = body;
    const { judge, clock, policyOf } = this.#terms;
    const policy = policyOf(address.provider.hostname);
    const recorded = readProof(body);
    try {
      const { library } = judge;
      const now = laterOf(recorded.verifiedAt, clock.now());
      const proof = matchesPolicy(recorded, policy)
        ? recorded
        : prepareProof(address, recorded, policy, library, now);
      return {
        ...(await judgeEvidence(address, proof, keyLabels, judge)),
        noted,
      };
    } catch (error) {
      if (!(error instanceof ProvenderError)) throw error;
      return {
        ...faultyEvidence(address, recorded, keyLabels, body, error),
        noted,
      };
    }
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

function recordKey({ provider, version }: ReleaseAddress): RecordKey {
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

function readReleaseBody(body: unknown): ReleaseBody {
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
  const isOurs =
    ours.sha256sums === recorded.sha256sums &&
    ours.content.size === content.size;
  return isOurs ? ours : { ...recorded, content };
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

/** A namespace, or one provider of it. */
interface Scope {
  readonly hostname: Hostname;
  readonly namespace: string;
  readonly type: string | null;
}

/** Lists the releases that are meant and were admitted under a key, or have content under it, admitted or not; by their records alone, nothing is judged. */
export async function listUnder(
  records: RecordStore,
  { hostname, namespace, type }: Scope,
  fingerprint: string,
  how: "admitted" | "offered",
  isMeant: (release: ReleaseName) => boolean,
): Promise<readonly ReleaseName[]> {
  const folder = ["providers", hostname, namespace];
  const types = type === null ? await records.folders(folder) : [type];
  const found: ReleaseName[] = [];
  for (const name of types.toSorted())
    for (const version of await records.list([...folder, name, "releases"])) {
      const one = { type: name, version };
      if (!isMeant(one)) continue;
      // A record that cannot be read names no key; it refuses where it is asked for.
      const body = await records
        .read([...folder, name, "releases", version], readReleaseBody)
        .catch(() => undefined);
      const offered = how === "offered" ? (body?.evidence ?? []) : [];
      const signed = [body?.pinned, ...offered];
      if (signed.some((by) => by?.signedBy === fingerprint)) found.push(one);
    }
  return found;
}

/** Lists the contents that the record of a release has, also candidates that the bounds of `trust list` left out. */
export async function listRecorded(
  records: RecordStore,
  address: ReleaseAddress,
): Promise<
  readonly (Pick<Candidate, "sha256sums" | "fingerprint"> & {
    /** Undefined unless it is a candidate. */
    readonly reason: Candidate["reason"] | undefined;
  })[]
> {
  const body = await records.read(recordKey(address), readReleaseBody);
  return (body?.evidence ?? []).map(
    ({ document, signedBy: fingerprint, noted }) => {
      const sha256sums = digestOf(Buffer.from(document, "utf8"));
      const reason = isCandidate(noted) ? noted : undefined;
      return { sha256sums, fingerprint, reason };
    },
  );
}
