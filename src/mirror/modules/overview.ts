import type { Sha256 } from "../../address/hash.ts";
import {
  formatModuleAddress,
  type ModuleAddress,
} from "../../address/module-address.ts";
import { withoutQuery } from "../../address/module-source.ts";
import { newestFirst, type Version } from "../../address/version.ts";
import { rememberedEach } from "../../concurrency/remembered.ts";
import type { BlobStore } from "../../store/blobs/blob-store.ts";
import type { TrustStore } from "../trust/trust-store.ts";
import type { ModuleReleaseRecords, ModuleTrustRecords } from "./records.ts";
import { findServed } from "./settlements.ts";

/** Known facts of a module's version, without asking its registry. */
interface ModuleVersionOverview {
  readonly version: Version;
  /** Source as its registry gave it, without possible secrets. */
  readonly source: string | undefined;
  readonly commit: string | undefined;
  /** Undefined for one that only clients can fetch. */
  readonly sha256: Sha256 | undefined;
  /** Bytes of a stored archive. */
  readonly size: number | undefined;
}

interface ModuleOverviewParts {
  readonly records: ModuleTrustRecords;
  readonly trust: TrustStore;
  readonly releases: ModuleReleaseRecords;
  readonly blobs: Pick<BlobStore, "size">;
}

/** About 500 bytes each. */
const mostDescribed = 2_000;

/** Lists the modules that are held, for people; asks no origin. */
export class ModuleOverview {
  readonly #parts: ModuleOverviewParts;
  readonly #described = rememberedEach<ModuleVersionOverview>(
    5_000,
    mostDescribed,
  );

  constructor(parts: ModuleOverviewParts) {
    this.#parts = parts;
  }

  /** Lists modules by name. */
  listModules(): Promise<readonly ModuleAddress[]> {
    return this.#parts.records.listModules();
  }

  /** Newest first. */
  async listVersions(module: ModuleAddress): Promise<readonly Version[]> {
    return newestFirst(await this.#parts.records.listVersions(module));
  }

  /** Reads records for each version, unless it did so in the last seconds; one after the other, since clients' are read meanwhile. */
  describe(
    module: ModuleAddress,
    versions: readonly Version[],
  ): Promise<readonly ModuleVersionOverview[]> {
    const name = formatModuleAddress(module);
    return Array.fromAsync(versions, (version) =>
      this.#described(`${name} ${version}`, () =>
        this.#describe(module, version),
      ),
    );
  }

  async #describe(
    module: ModuleAddress,
    version: Version,
  ): Promise<ModuleVersionOverview> {
    const { releases, blobs } = this.#parts;
    const address = { module, version };
    const served = await findServed(this.#parts, address);
    const archive = served?.archive;
    const release = (await releases.read(address))?.value;
    const location = served?.place?.location ?? release?.location;
    return {
      version,
      source: location && withoutQuery(location),
      commit: archive?.commit ?? served?.commit ?? release?.commit,
      sha256: archive?.sha256,
      size: archive && (await blobs.size(archive.sha256)),
    };
  }
}
