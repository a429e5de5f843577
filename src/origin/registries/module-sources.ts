import type { ArchiveSource, GitSource } from "../../address/module-source.ts";
import type { GitCheckout } from "../git/repository.ts";
import type { OriginArchive } from "../http/http-client.ts";

/**
 * Sources of one registry's modules, which get no credentials of the registry.
 */
export interface ModuleSources {
  /** `module` is whose archive it is, so that one that fails takes no other along. */
  openArchive(
    source: ArchiveSource,
    module: string,
    signal: AbortSignal,
  ): Promise<OriginArchive>;

  /** The commit that a source names now; undefined where only the whole repository can tell. */
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
