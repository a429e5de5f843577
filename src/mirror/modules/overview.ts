import type { Sha256 } from "../../address/hash.ts";
import {
  formatModuleAddress,
  type ModuleAddress,
} from "../../address/module-address.ts";
import { withoutQuery } from "../../address/module-source.ts";
import { newestFirst, type Version } from "../../address/version.ts";
import { rememberedEach } from "../../concurrency/remembered.ts";
import type { BlobStore } from "../../store/blobs/blob-store.ts";
import type { ModuleArchiveRecords, ModuleReleaseRecords } from "./records.ts";
import { isArchive } from "./release.ts";

/** What is known of a module's version, without asking its registry. */
interface ModuleVersionOverview {
  readonly version: Version;
  /** As its registry said it, without what may be a secret. */
  readonly source: string | undefined;
  readonly commit: string | undefined;
  /** Undefined for one that only clients can fetch. */
  readonly sha256: Sha256 | undefined;
  /** Bytes of a stored archive. */
  readonly size: number | undefined;
}

/** About 500 bytes each. */
const mostDescribed = 2_000;

/** What is held of modules, for people; nobody is asked for it. */
export class ModuleOverview {
  readonly #archives: ModuleArchiveRecords;
  readonly #releases: ModuleReleaseRecords;
  readonly #blobs: Pick<BlobStore, "size">;
  readonly #described = rememberedEach<ModuleVersionOverview>(
    5_000,
    mostDescribed,
  );

  constructor(
    archives: ModuleArchiveRecords,
    releases: ModuleReleaseRecords,
    blobs: Pick<BlobStore, "size">,
  ) {
    this.#archives = archives;
    this.#releases = releases;
    this.#blobs = blobs;
  }

  /** By name. */
  listModules(): Promise<readonly ModuleAddress[]> {
    return this.#archives.listModules();
  }

  /** Newest first. */
  async listVersions(module: ModuleAddress): Promise<readonly Version[]> {
    return newestFirst(await this.#archives.listVersions(module));
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
    const archive = await this.#archives.read({ module, version });
    const release = await this.#releases.read({ module, version });
    const own = isArchive(archive) ? archive : undefined;
    const { location, commit } = release?.value ?? {};
    return {
      version,
      source: location && withoutQuery(location),
      commit: own?.commit ?? commit,
      sha256: own?.sha256,
      size: own && (await this.#blobs.size(own.sha256)),
    };
  }
}
