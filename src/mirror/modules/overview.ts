import type { Sha256 } from "../../address/hash.ts";
import type { ModuleAddress } from "../../address/module-address.ts";
import { withoutQuery } from "../../address/module-source.ts";
import { newestFirst, type Version } from "../../address/version.ts";
import type { BlobStore } from "../../store/blobs/blob-store.ts";
import type { ModuleArchiveRecords, ModuleReleaseRecords } from "./records.ts";

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

/** What is held of modules, for people; nobody is asked for it. */
export class ModuleOverview {
  readonly #archives: ModuleArchiveRecords;
  readonly #releases: ModuleReleaseRecords;
  readonly #blobs: Pick<BlobStore, "size">;

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

  describe(
    module: ModuleAddress,
    versions: readonly Version[],
  ): Promise<readonly ModuleVersionOverview[]> {
    return Promise.all(
      versions.map(async (version) => {
        const archive = await this.#archives.read({ module, version });
        const release = await this.#releases.read({ module, version });
        const own = archive && "sha256" in archive ? archive : undefined;
        const { location, commit } = release?.value ?? {};
        return {
          version,
          source: location && withoutQuery(location),
          commit: own?.commit ?? commit,
          sha256: own?.sha256,
          size: own && (await this.#blobs.size(own.sha256)),
        };
      }),
    );
  }
}
