import type { PackageHash, Sha256 } from "../../address/hash.ts";
import { formatPlatform } from "../../address/platform.ts";
import {
  formatProviderAddress,
  type ProviderAddress,
} from "../../address/provider-address.ts";
import { newestFirst, type Version } from "../../address/version.ts";
import { remembered, rememberedEach } from "../../concurrency/remembered.ts";
import { ProvenderError } from "../../errors/index.ts";
import type { BlobStore } from "../../store/blobs/blob-store.ts";
import { readKeyNames } from "../../verification/fingerprints.ts";
import type { Clock } from "../cache/clock.ts";
import type { PackageHashes } from "../releases/package-hashes.ts";
import type { ReleaseRecords } from "../releases/records.ts";
import { formatRelease, type ReleaseAddress } from "../releases/release.ts";
import type { VersionList } from "../versions/version-list.ts";
import type { Admission } from "../trust/admission.ts";
import {
  readPending,
  type PendingDecision,
} from "../trust/pending-decisions.ts";
import type { TrustEntry } from "../trust/trust-entry.ts";
import type { TrustStore } from "../trust/trust-store.ts";
import { isKeyApproved, isRevoked } from "../../trust/decisions.ts";
import { decideByRules } from "../../trust/policy.ts";
import type { ProviderCatalog } from "../standings/provider-catalog.ts";
import type { Refusals } from "../standings/refused-versions.ts";
import type { Standings } from "../standings/standings.ts";

interface OverviewParts {
  readonly catalog: Pick<ProviderCatalog, "peekVersions" | "peekRelease">;
  readonly releases: ReleaseRecords;
  readonly standings: Pick<Standings, "listRefused">;
  readonly admission: Pick<Admission, "rules">;
  readonly trust: TrustStore;
  readonly hashes: Pick<PackageHashes, "find" | "isKnown">;
  readonly blobs: BlobStore;
  readonly clock: Clock;
}

/** Known facts of a version, without asking its origin. */
interface VersionOverview {
  readonly version: Version;
  /** False when the origin no longer lists it, or no list was seen. */
  readonly isListed: boolean;
  readonly firstSeen: Date | undefined;
  readonly signedBy: string | undefined;
  /** The key of the configuration that denies it. */
  readonly deniedBy: string | undefined;
  /** End of its minimum age, as far as the mirror's own lists show it. */
  readonly heldUntil: Date | undefined;
  /** Time since when its registry lists it without having its documents. */
  readonly phantomSince: Date | undefined;
  readonly pending: readonly PendingDecision[];
}

type Recorded = Pick<VersionOverview, "firstSeen" | "signedBy">;

interface PackageOverview {
  /** OS_ARCH. */
  readonly platform: string;
  readonly sha256: Sha256;
  /** Computed here. */
  readonly h1: PackageHash | undefined;
  /** Bytes of a stored archive. */
  readonly size: number | undefined;
  readonly lastUsed: Date | undefined;
}

/** Facts of one release beyond those of its version. */
interface ReleaseOverview {
  readonly packages: readonly PackageOverview[];
  readonly signer: Signer | undefined;
}

interface Signer {
  readonly fingerprint: string;
  /** User ID in the key, which is not verified. */
  readonly name: string | undefined;
  /** Reason why it counts or does not, in words; undefined when it is not known. */
  readonly known: string | undefined;
}

/** About 300 bytes each. */
const mostRecorded = 5_000;
/** Each has all versions of a provider. */
const mostLists = 16;
/** Milliseconds for which the last use of archives is good enough: all of them are read for that of one. */
const usesRememberedFor = 10_000;

/** Lists the providers that are held and how they stand, for people; asks no origin. */
export class ProviderOverview {
  readonly #parts: OverviewParts;
  readonly #readUses: () => ReturnType<BlobStore["usage"]["read"]>;
  readonly #lists = rememberedEach<readonly Version[]>(5_000, mostLists);
  readonly #recorded = rememberedEach<Recorded>(5_000, mostRecorded);

  constructor(parts: OverviewParts) {
    this.#parts = parts;
    this.#readUses = remembered(usesRememberedFor, () =>
      parts.blobs.usage.read(),
    );
  }

  /** True when the policy reports its refusals and serves them. */
  get reportsOnly(): boolean {
    return this.#parts.admission.rules.mode === "report";
  }

  /** Lists providers by name. */
  listProviders(): Promise<readonly ProviderAddress[]> {
    return this.#parts.releases.listProviders(Infinity);
  }

  /** Recorded or only listed, newest first, as of the last seconds. */
  listVersions(provider: ProviderAddress): Promise<readonly Version[]> {
    return this.#lists(formatProviderAddress(provider), () =>
      this.#listVersions(provider),
    );
  }

  async #listVersions(provider: ProviderAddress): Promise<readonly Version[]> {
    const { catalog, releases } = this.#parts;
    const list = await catalog.peekVersions(provider);
    const recorded = await releases.list(provider);
    return newestFirst([
      ...new Set([...(list?.versions.keys() ?? []), ...recorded]),
    ]);
  }

  /** Reads a record for each version, unless it did so in the last seconds; one after the other, since clients' are read meanwhile. */
  async describe(
    provider: ProviderAddress,
    versions: readonly Version[],
  ): Promise<readonly VersionOverview[]> {
    const { catalog, trust, admission, standings } = this.#parts;
    const list = await catalog.peekVersions(provider);
    const refused = await standings.listRefused({ provider });
    const { rules } = admission;
    const pending =
      (await unlessUnreadable(readPending(trust, provider, rules))) ?? [];
    return Array.fromAsync(versions, async (version) => ({
      ...(await this.#describeVersion({ provider, version }, list)),
      phantomSince: findPhantom(refused, version),
      pending: pending.filter((one) => one.version === version),
    }));
  }

  async describeRelease(address: ReleaseAddress): Promise<ReleaseOverview> {
    const { blobs, releases, trust } = this.#parts;
    const recorded = await unlessUnreadable(releases.describe(address));
    const uses = await this.#readUses();
    const packages = await Array.fromAsync(
      recorded?.packages ?? [],
      async ({ platform, sha256 }) => {
        const at = uses.get(sha256);
        return {
          ...{ platform: formatPlatform(platform), sha256 },
          h1: await this.#findHash(sha256),
          size: await blobs.size(sha256),
          lastUsed: at === undefined ? undefined : new Date(at),
        };
      },
    );
    const entry = await unlessUnreadable(trust.open(address.provider));
    const fingerprint = recorded?.signedBy;
    return {
      packages,
      signer:
        fingerprint === undefined
          ? undefined
          : await this.#describeSigner(address, fingerprint, entry),
    };
  }

  async #describeVersion(
    address: ReleaseAddress,
    list: VersionList | undefined,
  ): Promise<Omit<VersionOverview, "phantomSince" | "pending">> {
    const { admission, clock } = this.#parts;
    const { provider, version } = address;
    const recorded = await this.#recorded(formatRelease(address), () =>
      this.#findRecorded(address),
    );
    const { policy } = admission.rules;
    const { action, rule, minimumAge } = decideByRules(
      policy,
      provider,
      version,
    );
    const entry = list?.versions.get(version);
    const until = (entry?.appeared?.getTime() ?? -Infinity) + minimumAge;
    return {
      version,
      isListed: entry?.listed === true,
      ...recorded,
      deniedBy: action === "deny" ? rule : undefined,
      heldUntil: until > clock.now().getTime() ? new Date(until) : undefined,
    };
  }

  async #findRecorded(address: ReleaseAddress): Promise<Recorded> {
    const { releases } = this.#parts;
    const recorded = await unlessUnreadable(releases.describe(address));
    return { firstSeen: recorded?.firstSeen, signedBy: recorded?.signedBy };
  }

  /** Nothing is computed for a page. */
  async #findHash(sha256: Sha256): Promise<PackageHash | undefined> {
    const { hashes } = this.#parts;
    return (await hashes.isKnown(sha256)) ? hashes.find(sha256) : undefined;
  }

  async #describeSigner(
    address: ReleaseAddress,
    fingerprint: string,
    entry: TrustEntry | undefined,
  ): Promise<Signer> {
    const release = await unlessUnreadable(
      this.#parts.catalog.peekRelease(address),
    );
    const names = readKeyNames(release?.keys ?? []);
    const known =
      entry &&
      (await unlessUnreadable(explainKey(entry, address, fingerprint)));
    return { fingerprint, name: names.get(fingerprint), known };
  }
}

function findPhantom(refused: Refusals, version: Version): Date | undefined {
  const { kind, since } = refused.get(version) ?? {};
  return kind === "phantom" ? since : undefined;
}

async function explainKey(
  entry: TrustEntry,
  { provider: { type }, version }: ReleaseAddress,
  fingerprint: string,
): Promise<string | undefined> {
  const { decisions, firstKey, providerKeys } = entry.trust;
  const name = { type, version };
  if (isRevoked(decisions, name, fingerprint)) return "revoked by an operator";
  if (isKeyApproved(decisions, name, fingerprint))
    return "approved by an operator";
  const contact = await entry.findContact(type);
  if (contact?.key === fingerprint)
    return `known since first contact, ${contact.at.toISOString()}`;
  if (firstKey?.fingerprint === fingerprint)
    return `known since first contact with ${firstKey.type}`;
  return providerKeys.some(
    (key) => key.type === type && key.fingerprint === fingerprint,
  )
    ? "known as the first to sign for this provider"
    : undefined;
}

/**
 * Returns undefined for an invalid record. A request for the record itself gets
 * the reason.
 */
async function unlessUnreadable<T>(read: Promise<T>): Promise<T | undefined> {
  try {
    return await read;
  } catch (error) {
    if (error instanceof ProvenderError) return undefined;
    throw error;
  }
}
