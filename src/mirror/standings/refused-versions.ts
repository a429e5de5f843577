import { LRUCache } from "lru-cache";
import { z } from "zod";
import type { ProviderAddress } from "../../address/provider-address.ts";
import { formatProviderAddress } from "../../address/provider-address.ts";
import type { RecordKey } from "../../store/layout.ts";
import type { RecordStore } from "../../store/records/record-store.ts";

const shape = z.object({ versions: z.array(z.string()) });

/** Clients may ask for any provider, so memory is bounded. */
const mostProviders = 1_000;

/** The versions of a provider that were refused when they were asked for last: a list looks at them before it names them. */
export class RefusedVersions {
  readonly #records: RecordStore;
  readonly #onUnwritten: (provider: string, error: unknown) => void;
  readonly #memory = new LRUCache<string, ReadonlySet<string>>({
    max: mostProviders,
  });
  #writing: Promise<void> = Promise.resolve();

  constructor(
    records: RecordStore,
    onUnwritten: (provider: string, error: unknown) => void,
  ) {
    this.#records = records;
    this.#onUnwritten = onUnwritten;
  }

  /** The same object while nothing changes. */
  async list(provider: ProviderAddress): Promise<ReadonlySet<string>> {
    return this.#read(provider);
  }

  /** Notes how a version was answered. A record that could not be written costs a look-up alone. */
  async note(
    provider: ProviderAddress,
    version: string,
    isRefused: boolean,
  ): Promise<void> {
    const before = await this.#read(provider);
    if (before.has(version) === isRefused) return;
    const others = [...before].filter((one) => one !== version);
    const versions = new Set(isRefused ? [...others, version] : others);
    this.#memory.set(formatProviderAddress(provider), versions);
    const body = { versions: [...versions] };
    this.#writing = this.#writing
      .then(() => this.#records.write(recordKey(provider), body))
      .catch((error: unknown) =>
        this.#onUnwritten(formatProviderAddress(provider), error),
      );
    await this.#writing;
  }

  async #read(provider: ProviderAddress): Promise<ReadonlySet<string>> {
    const name = formatProviderAddress(provider);
    const known = this.#memory.get(name);
    if (known !== undefined) return known;
    const body = await this.#records.read(recordKey(provider), (read) =>
      shape.parse(read),
    );
    const versions = this.#memory.get(name) ?? new Set(body?.versions);
    this.#memory.set(name, versions);
    return versions;
  }
}

function recordKey({ hostname, namespace, type }: ProviderAddress): RecordKey {
  return ["refused-versions", hostname, namespace, type];
}
