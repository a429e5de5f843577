import * as z from "zod";
import type { Hostname } from "../../address/hostname.ts";
import {
  providerAddress,
  type ProviderAddress,
} from "../../address/provider-address.ts";
import { parseSha256, type Sha256 } from "../../address/hash.ts";
import { formatArchiveName } from "../../address/archive-name.ts";
import { parsePlatform } from "../../address/platform.ts";
import type { TrustScope } from "../../address/spec.ts";
import { isVersion, type Version } from "../../address/version.ts";
import { ifAddress, ProvenderError } from "../../errors/index.ts";
import type {
  RecordKey,
  RecordStore,
} from "../../store/records/record-store.ts";
import { laterOf, type Clock } from "../cache/clock.ts";
import type { Kept, MetadataRecords } from "../cache/metadata-cache.ts";
import type { Candidate } from "../../trust/candidates.ts";
import type { Content } from "../../trust/content.ts";
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
  prepareProof,
  type SignatureJudge,
  type SignaturePolicy,
  type KnownRelease,
} from "./evidence.ts";
import { formatRelease, type ReleaseAddress } from "./release.ts";

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
  readonly format = formatRelease;
  readonly key = recordKey;
  readonly #records: RecordStore;
  readonly #terms: JudgingTerms;

  constructor(records: RecordStore, terms: JudgingTerms) {
    this.#records = records;
    this.#terms = terms;
  }

  weigh({ trust, places, keys }: KnownRelease): number {
    let bytes = 4096;
    for (const text of [...places.values(), ...keys]) bytes += text.length;
    for (const { proof, content } of trust.evidence)
      bytes += 512 * content.size + 4 * proof.document.length;
    return bytes;
  }

  async read(address: ReleaseAddress): Promise<Kept<KnownRelease> | undefined> {
    const body = await this.#records.read(recordKey(address), readReleaseBody);
    if (body === undefined) return undefined;
    const { confirmedAt, pinned, published, keys, offered, revision } = body;
    const evidence = await Promise.all(
      body.evidence.map((one) => this.#judge(address, one)),
    );
    const trust = { pinned, evidence, published };
    const places = new Map<string, string>();
    return { value: { trust, keys, offered, places, revision }, confirmedAt };
  }

  /** The content that was admitted first, as it is on record. */
  async readPinned(
    address: ReleaseAddress,
  ): Promise<PinnedChecksums | undefined> {
    return (await this.#records.read(recordKey(address), readReleaseBody))
      ?.pinned;
  }

  /** Lists the archives that the record names, pinned or not, by digest with their file names. */
  async readDigests(
    address: ReleaseAddress,
  ): Promise<ReadonlyMap<Sha256, string>> {
    const body = await this.#records.read(recordKey(address), readReleaseBody);
    const offered = body?.evidence.map((one) => readContent(address, one));
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
    const { pinned, evidence } = value.trust;
    const isJudged = pinned ?? evidence.some(({ noted }) => noted);
    if (value.revision === 0 && !isJudged) return kept;
    const body = writeRelease(kept);
    const revision = await this.#records.transact(async () => {
      const written = await this.#records.swap(
        ...([recordKey(address), value.revision, body] as const),
      );
      if (written !== undefined)
        await writePackages(this.#records, address, pinned);
      return written;
    });
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

  /**
   * A verdict that was reached under another profile is renewed, as of now or,
   * where the clock was set back, as of then. Evidence that does not hold on
   * today's terms is kept: it may hold again.
   */
  async #judge(
    address: ReleaseAddress,
    body: ReleaseBody["evidence"][number],
  ): Promise<StoredEvidence> {
    const { signedBy, signedAt, keyLabels, noted, ...recorded } = body;
    const { judge, clock, policyOf } = this.#terms;
    const policy = policyOf(address.provider.hostname);
    try {
      const now = laterOf(recorded.verifiedAt, clock.now());
      const proof = matchesPolicy(recorded, policy)
        ? recorded
        : prepareProof(address, recorded, policy, judge.library, now);
      return await judgeEvidence(address, proof, keyLabels, judge, noted);
    } catch (error) {
      if (!(error instanceof ProvenderError)) throw error;
      const before = { signedBy, signedAt, keyLabels, noted };
      return faultyEvidence(address, recorded, before, error);
    }
  }
}

/** The pinned content in a table, for who asks about all: the record of a release is long. */
async function writePackages(
  records: RecordStore,
  { provider, version }: ReleaseAddress,
  pinned: PinnedChecksums | undefined,
): Promise<void> {
  if (pinned === undefined) return;
  const { content, at, signedBy } = pinned;
  const release = { ...provider, version };
  const first = { first_seen: at.toISOString(), signed_by: signedBy ?? null };
  const rows = Array.from(content, ([platform, sha256]) => ({
    ...{ ...release, platform, sha256, ...first },
  }));
  await records.ask(async (database) => {
    const all = database.deleteFrom("packages");
    await all.where((where) => where.and(release)).execute();
    if (rows.length > 0)
      await database.insertInto("packages").values(rows).execute();
  });
}

function recordKey({ provider, version }: ReleaseAddress): RecordKey {
  const { hostname, namespace, type } = provider;
  return ["releases", hostname, namespace, type, version];
}

const text = z.string();
const moment = z.iso.datetime().transform((iso) => new Date(iso));
const texts = z.array(text).readonly();
const set = texts.transform((items): ReadonlySet<string> => new Set(items));
/** Digests by OS_ARCH. */
const content = z
  .record(text, text.transform(parseSha256))
  .transform((digests): Content => new Map(Object.entries(digests)));
/** Written as null where there is none. */
const optional = <T extends z.ZodType>(shape: T) =>
  z.nullable(shape).transform((value) => value ?? undefined);
/** In memory of their own, as `prepareProof` has them. */
const bytes = (encoding: "utf8" | "base64") =>
  text.transform((written) => new Uint8Array(Buffer.from(written, encoding)));

const label = text.optional();
const keyLabel = z.object({
  ...{
    key_id: label,
    trust_signature: label,
    source: label,
    source_url: label,
  },
});

const evidenceShape = z.object({
  document: bytes("utf8"),
  signature: optional(bytes("base64")),
  keys: texts,
  profile: z.enum(["terraform", "opentofu", "enforce", "strict"]),
  exemption: optional(z.enum(["unsigned-when-published", "signatures-off"])),
  verifiedAt: moment,
  library: text,
  signedBy: optional(text),
  signedAt: optional(moment),
  keyLabels: z.array(keyLabel).readonly(),
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
  published: set,
  keys: texts,
  offered: optional(set),
});

interface ReleaseBody extends Readonly<z.output<typeof releaseShape>> {
  readonly revision: number;
}

function readReleaseBody(body: unknown, revision: number): ReleaseBody {
  return { ...releaseShape.parse(body), revision };
}

function writeRelease({ value, confirmedAt }: Kept<KnownRelease>) {
  const { trust, keys, offered } = value;
  const { pinned, published } = trust;
  const evidence = [];
  for (const { proof, keyLabels, noted, ...one } of trust.evidence) {
    const { document, signature, exemption = null } = proof;
    // A signature's date may exceed the range of dates.
    const isDate = !Number.isNaN(one.signedAt?.getTime());
    evidence.push({
      ...{ ...proof, exemption },
      document: Buffer.from(document).toString(),
      signature: signature ? Buffer.from(signature).toString("base64") : null,
      signedBy: one.signedBy ?? null,
      signedAt: (isDate ? one.signedAt : undefined) ?? null,
      ...{ keyLabels, noted: noted ?? null },
    });
  }
  return {
    confirmedAt,
    pinned: pinned
      ? {
          ...{ ...pinned, content: Object.fromEntries(pinned.content) },
          signedBy: pinned.signedBy ?? null,
        }
      : null,
    ...{ evidence, published: [...published], keys },
    offered: offered ? [...offered] : null,
  };
}

/** Lists the releases in a scope that were pinned under a key, or have content under it, admitted or not; by their records alone, nothing is judged. */
export async function listUnder(
  records: RecordStore,
  { hostname, namespace, type, version }: TrustScope,
  fingerprint: string,
): Promise<readonly (ReleaseName & { readonly isPinned: boolean })[]> {
  const meant = ["releases", hostname, namespace] as const;
  const found = [];
  for (const [name = "", one = ""] of await records.list(meant)) {
    if ((type ?? name) !== name || (version ?? one) !== one) continue;
    // A record that cannot be read names no key; it refuses where it is asked for.
    const body = await records
      .read([...meant, name, one], readReleaseBody)
      .catch(() => undefined);
    const isPinned = body?.pinned?.signedBy === fingerprint;
    if (isPinned || body?.evidence.some((by) => by.signedBy === fingerprint))
      found.push({ type: name, version: one, isPinned });
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
      const sha256sums = digestOf(document);
      const reason = isCandidate(noted) ? noted : undefined;
      return { sha256sums, fingerprint, reason };
    },
  );
}
