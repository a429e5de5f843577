import type { ProviderAddress } from "../../address/provider-address.ts";
import { newestFirst, type Version } from "../../address/version.ts";
import { ProvenderError } from "../../errors/index.ts";
import type { ArchiveCache } from "../cache/archive-cache.ts";
import type { ReleaseRecords } from "../releases/records.ts";
import type { ReleaseAddress } from "../releases/release.ts";
import type { ProviderCatalog } from "./provider-catalog.ts";

interface StoredReleasesParts {
  readonly catalog: Pick<ProviderCatalog, "peekRelease">;
  readonly archives: Pick<ArchiveCache, "findSize">;
  readonly records: Pick<ReleaseRecords, "list" | "listProviders">;
}

/** What is kept of providers, whatever the rules say of them. */
export class StoredReleases {
  readonly #parts: StoredReleasesParts;

  constructor(parts: StoredReleasesParts) {
    this.#parts = parts;
  }

  /** Up to `most` providers and the versions of which something is kept, newest first. */
  async listProviders(most: number): Promise<
    readonly {
      readonly provider: ProviderAddress;
      readonly versions: readonly Version[];
    }[]
  > {
    const { records } = this.#parts;
    const providers = await records.listProviders(most);
    return Promise.all(
      providers.map(async (provider) => {
        const versions = await records.list(provider);
        return { provider, versions: newestFirst(versions) };
      }),
    );
  }

  /** Versions of which something is kept, in no order. */
  listVersions(provider: ProviderAddress): Promise<readonly Version[]> {
    return this.#parts.records.list(provider);
  }

  /** Stored when some archive of the release is. */
  async find(
    address: ReleaseAddress,
  ): Promise<"stored" | "absent" | "refused"> {
    const { catalog, archives } = this.#parts;
    try {
      const release = await catalog.peekRelease(address);
      const sizes = await Promise.all(
        [...(release?.packages.values() ?? [])].map(({ sha256 }) =>
          archives.findSize(sha256),
        ),
      );
      return sizes.some((size) => size !== undefined) ? "stored" : "absent";
    } catch (error) {
      if (error instanceof ProvenderError) return "refused";
      throw error;
    }
  }
}
