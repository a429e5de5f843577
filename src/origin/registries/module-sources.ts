import type { ArchiveSource, GitSource } from "../../address/module-source.ts";
import type { GitCheckout } from "../git/repository.ts";
import type { OriginArchive } from "../http/http-client.ts";

/**
 * Sources of one registry's modules, which get no credentials of the registry.
 */
export interface ModuleSources {
  /** Opens an archive. `module` is the module that a failure counts against. */
  openArchive(
    source: ArchiveSource,
    module: string,
    signal: AbortSignal,
  ): Promise<OriginArchive>;

  /**
   * Returns the current commit of a source; undefined where only the whole
   * repository resolves it.
   */
  findCommit(
    source: GitSource,
    signal: AbortSignal,
  ): Promise<string | undefined>;

  fetchCommit(
    source: GitSource,
    commit: string | undefined,
    signal: AbortSignal,
  ): Promise<GitCheckout>;
}
