import type { ArchiveSource } from "../address/module-source.ts";
import type { HttpClient } from "./http-client.ts";

/** A module's archive that starts to arrive. */
export interface OpenedModule {
  readonly body: AsyncIterable<Uint8Array>;
  /** Bytes; undefined when nobody announced it. */
  readonly size: number | undefined;
  /** What a git source was packed from. */
  readonly commit: string | undefined;
}

/** Where modules of one registry are fetched from; no credentials of the registry go there. */
export class ModuleSources {
  readonly #http: HttpClient;

  constructor(http: HttpClient) {
    this.#http = http;
  }

  async open(
    { url }: ArchiveSource,
    signal: AbortSignal,
  ): Promise<OpenedModule> {
    const { body, size } = await this.#http.openArchive(url, signal);
    return { body, size, commit: undefined };
  }
}
