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
import { ifAddress, ProvenderError } from "../../errors/index.ts";
import type { RecordKey } from "../../store/records/record-tables.ts";
import type { RecordStore } from "../../store/records/record-store.ts";
import { laterOf, type Clock } from "../cache/clock.ts";
import type { Kept, MetadataRecords } from "../cache/metadata-cache.ts";
import type { Candidate } from "../../trust/candidates.ts";
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
    const { confirmedAt, pinned, published, keys, offered, revision } = body;
    const evidence = await Promise.all(
      body.evidence.map((one) => this.#judge(address, one)),
    );
    const value = {
      trust: { pinned, evidence, published: new Set(published) },
      keys,
      offered: offered && new Set(offered),
      places: new Map<string, string>(),
      revision,
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

  /** Nothing is recorded of an unverified release. */
  async write(
    address: ReleaseAddress,
    kept: Kept<KnownRelease>,
  ): Promise<Kept<KnownRelease> | undefined> {
    const { value } = kept;
    if (value.revision === 0 && !isJudged(value)) return kept;
    const revision = await this.#records.swap(
      ...([recordKey(address), value.revision, writeRelease(kept)] as const),
    );
    return revision === undefined
      ? undefined
      : { ...kept, value: { ...value, revision } };
  }

  /** Writes a decision and what `beside` writes, in one transaction; neither, where another process was first. */
  decide(
    address: ReleaseAddress,
    kept: Kept<KnownRelease>,
    beside: () => Promise<void>,
  ): Promise<Kept<KnownRelease> | undefined> {
    return this.#records.transact(async () => {
      const written = await this.write(address, kept);
      if (written !== undefined) await beside();
      return written;
    });
  }

  /** The providers of which a list or a release is on record, by name. */
  async listProviders(): Promise<readonly ProviderAddress[]> {
    const found = [
      ...(await this.#records.list(["version_lists"])),
      ...(await this.#records.list(["releases"], 3)),
    ];
    const byName = new Map(found.map((parts) => [parts.join("/"), parts]));
    return [...byName.keys()].toSorted().flatMap((name) => {
      const [hostname = "", namespace = "", type = ""] = byName.get(name) ?? [];
      // A row of another program has no address.
      return (
        ifAddress(() => [providerAddress(hostname, namespace, type)]) ?? []
      );
    });
  }

  /** The versions of a provider on record, in no order. */
  async list(provider: ProviderAddress): Promise<readonly Version[]> {
    const { hostname, namespace, type } = provider;
    const key = ["releases", hostname, namespace, type] as const;
    return (await this.#records.list(key)).flat().filter(isVersion);
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

function recordKey({ provider, version }: ReleaseAddress): RecordKey {
  const { hostname, namespace, type } = provider;
  return ["releases", hostname, namespace, type, version];
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
interface ReleaseBody extends Readonly<z.infer<typeof releaseShape>> {
  readonly revision: number;
}
type EvidenceBody = ReleaseBody["evidence"][number];

function readReleaseBody(body: unknown, revision: number): ReleaseBody {
  return { ...releaseShape.parse(body), revision };
}

function writeRelease({
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
  const meant = ["releases", hostname, namespace] as const;
  const found: ReleaseName[] = [];
  for (const [name = "", version = ""] of await records.list(meant)) {
    const one = { type: name, version };
    if ((type !== null && type !== name) || !isMeant(one)) continue;
    // A record that cannot be read names no key; it refuses where it is asked for.
    const body = await records
      .read([...meant, name, version], readReleaseBody)
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
