import type { ArchiveSource, GitSource } from "../../address/module-source.ts";
import type { GitCheckout, GitRepositories } from "../git/repository.ts";
import type { HttpClient, OriginArchive } from "../http/http-client.ts";

/** Where modules of one registry are fetched from; no credentials of the registry go there. */
export class ModuleSources {
  readonly #http: HttpClient;
  readonly #git: GitRepositories;

  constructor(http: HttpClient, git: GitRepositories) {
    this.#http = http;
    this.#git = git;
  }

  /** `module` is whose archive it is, so that one that fails takes no other along. */
  openArchive(
    { url }: ArchiveSource,
    module: string,
    signal: AbortSignal,
  ): Promise<OriginArchive> {
    return this.#http.openArchive(url, signal, module);
  }

  /** The commit that a source names now. */
  findCommit(
    source: GitSource,
    signal: AbortSignal,
  ): Promise<string | undefined> {
    return this.#git.findCommit(source, signal);
  }

  fetchCommit(
    source: GitSource,
    commit: string | undefined,
    signal: AbortSignal,
  ): Promise<GitCheckout> {
    return this.#git.fetchCommit(source, commit, signal);
  }
}
