import type { PackageHash, Sha256 } from "../../address/hash.ts";
import { formatPlatform } from "../../address/platform.ts";
import type { ProviderAddress } from "../../address/provider-address.ts";
import { newestFirst, type Version } from "../../address/version.ts";
import { ProvenderError } from "../../errors/index.ts";
import type { BlobStore } from "../../store/blobs/blob-store.ts";
import { readKeyNames } from "../../verification/openpgp/keys/names.ts";
import type { Clock } from "../cache/clock.ts";
import type { PackageHashes } from "../releases/package-hashes.ts";
import type { ReleaseRecords } from "../releases/records.ts";
import { readPlatform, type ReleaseAddress } from "../releases/release.ts";
import type { VersionList } from "../releases/version-list.ts";
import type { Admission } from "../trust/admission.ts";
import type { TrustLedger } from "../trust/ledger.ts";
import type { NamespaceTrust } from "../trust/namespace-trust.ts";
import { listOpen, type OpenMatter } from "../trust/open-matters.ts";
import { decideByRules } from "../trust/policy.ts";
import type { ProviderCatalog } from "./provider-catalog.ts";

interface OverviewParts {
  readonly catalog: Pick<ProviderCatalog, "peekVersions" | "peekRelease">;
  readonly releases: ReleaseRecords;
  readonly admission: Pick<Admission, "rules">;
  readonly ledger: TrustLedger;
  readonly hashes: Pick<PackageHashes, "find" | "isKnown">;
  readonly blobs: BlobStore;
  readonly clock: Clock;
}

/** What is known of a version, without asking its origin. */
interface VersionOverview {
  readonly version: Version;
  /** False when the origin lists it no more, or no list was seen. */
  readonly isListed: boolean;
  readonly firstSeen: Date | undefined;
  readonly signedBy: string | undefined;
  /** The key of the configuration that denies it. */
  readonly deniedBy: string | undefined;
  /** Of its minimum age, as far as the mirror's own lists say it. */
  readonly heldUntil: Date | undefined;
  readonly matters: readonly OpenMatter[];
}

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

/** What an overview of one release has beside that of its version. */
interface ReleaseOverview {
  readonly packages: readonly PackageOverview[];
  readonly signer: Signer | undefined;
}

interface Signer {
  readonly fingerprint: string;
  /** As the key calls itself, which nobody vouches for. */
  readonly name: string | undefined;
  /** In the ledger's words; undefined when it is not in there. */
  readonly known:
    { readonly since: string; readonly because: string } | undefined;
}

/** What is held of providers and how it stands, for people; nobody is asked for it. */
export class ProviderOverview {
  readonly #parts: OverviewParts;

  constructor(parts: OverviewParts) {
    this.#parts = parts;
  }

  /** What the policy would refuse is told, and served. */
  get reportsOnly(): boolean {
    return this.#parts.admission.rules.mode === "report";
  }

  /** By name. */
  listProviders(): Promise<readonly ProviderAddress[]> {
    return this.#parts.releases.listProviders(Infinity);
  }

  /** Recorded or only listed, newest first. */
  async listVersions(provider: ProviderAddress): Promise<readonly Version[]> {
    const { catalog, releases } = this.#parts;
    const list = await catalog.peekVersions(provider);
    const recorded = await releases.list(provider);
    return newestFirst([
      ...new Set([...(list?.versions.keys() ?? []), ...recorded]),
    ]);
  }

  /** Reads a record for each version. */
  async describe(
    provider: ProviderAddress,
    versions: readonly Version[],
  ): Promise<readonly VersionOverview[]> {
    const { catalog, ledger } = this.#parts;
    const list = await catalog.peekVersions(provider);
    const trust = await unlessUnreadable(ledger.read(provider));
    return Promise.all(
      versions.map((version) =>
        this.#describeVersion({ provider, version }, list, trust),
      ),
    );
  }

  async describeRelease(address: ReleaseAddress): Promise<ReleaseOverview> {
    const { blobs, releases, ledger } = this.#parts;
    const { provider, version } = address;
    const recorded = await unlessUnreadable(releases.describe(address));
    const uses = await blobs.usage.read();
    const named = [...(recorded?.digests ?? [])].flatMap(([filename, sha256]) =>
      readPlatform(provider, version, filename).map(
        (platform) => [formatPlatform(platform), sha256] as const,
      ),
    );
    const packages = await Promise.all(
      named.map(async ([platform, sha256]) => {
        const at = uses.get(sha256)?.at;
        return {
          ...{ platform, sha256 },
          h1: await this.#findHash(sha256),
          size: await blobs.size(sha256),
          lastUsed: at === undefined ? undefined : new Date(at),
        };
      }),
    );
    const trust = await unlessUnreadable(ledger.read(provider));
    const fingerprint = recorded?.signedBy;
    return {
      packages: packages.toSorted((a, b) => (a.platform < b.platform ? -1 : 1)),
      signer:
        fingerprint === undefined
          ? undefined
          : await this.#describeSigner(address, fingerprint, trust),
    };
  }

  async #describeVersion(
    address: ReleaseAddress,
    list: VersionList | undefined,
    trust: NamespaceTrust | undefined,
  ): Promise<VersionOverview> {
    const { releases, admission, clock } = this.#parts;
    const { provider, version } = address;
    const recorded = await unlessUnreadable(releases.describe(address));
    const { policy } = admission.rules;
    const { action, rule, minimumAge } = decideByRules(
      policy,
      provider,
      version,
    );
    const entry = list?.versions.get(version);
    const until = (entry?.appeared?.getTime() ?? -Infinity) + minimumAge;
    const open = trust === undefined ? [] : listOpen(provider, trust);
    return {
      version,
      isListed: entry?.listed === true,
      firstSeen: recorded?.firstSeen,
      signedBy: recorded?.signedBy,
      deniedBy: action === "deny" ? rule : undefined,
      heldUntil: until > clock.now().getTime() ? new Date(until) : undefined,
      matters: open.filter(
        (matter) =>
          matter.provider.type === provider.type && matter.version === version,
      ),
    };
  }

  /** Nothing is computed for a page. */
  async #findHash(sha256: Sha256): Promise<PackageHash | undefined> {
    const { hashes } = this.#parts;
    return (await hashes.isKnown(sha256)) ? hashes.find(sha256) : undefined;
  }

  async #describeSigner(
    address: ReleaseAddress,
    fingerprint: string,
    trust: NamespaceTrust | undefined,
  ): Promise<Signer> {
    const release = await unlessUnreadable(
      this.#parts.catalog.peekRelease(address),
    );
    const names = readKeyNames(release?.proof.keys ?? []);
    const { type } = address.provider;
    const known = trust?.seen.keys.find(
      (key) =>
        key.fingerprint === fingerprint &&
        (key.scope === "namespace" || key.type === type),
    );
    return { fingerprint, name: names.get(fingerprint), known };
  }
}

/** What cannot be believed is not shown; who asks for it is told why. */
async function unlessUnreadable<T>(read: Promise<T>): Promise<T | undefined> {
  try {
    return await read;
  } catch (error) {
    if (error instanceof ProvenderError) return undefined;
    throw error;
  }
}
