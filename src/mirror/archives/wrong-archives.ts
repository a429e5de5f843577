import * as z from "zod";
import type { Sha256 } from "../../address/hash.ts";
import type { ProviderAddress } from "../../address/provider-address.ts";
import type {
  RecordKey,
  RecordStore,
} from "../../store/records/record-store.ts";
import type { Clock } from "../cache/clock.ts";

/** Milliseconds for which an archive that came wrong is refused at once. */
const refusedFor = 300_000;

const shape = z.object({
  got: z.string(),
  at: z.iso.datetime().transform((text) => new Date(text)),
});

const readBody = (body: unknown) => shape.parse(body);

/**
 * What came in place of archives, by provider and digest, so that nobody's lies refuse another one's archive: a client
 * whose body was cut learns why at its next try, and people from every process.
 */
export class WrongArchives {
  readonly #records: RecordStore;
  readonly #clock: Clock;

  constructor(records: RecordStore, clock: Clock) {
    this.#records = records;
    this.#clock = clock;
  }

  /** The SHA-256 of what came last, if it was not right, and whether that is so lately that the archive is refused. */
  async find(provider: ProviderAddress, sha256: Sha256) {
    const found = await this.#records.read(keyOf(provider, sha256), readBody);
    if (found === undefined) return undefined;
    const age = this.#clock.now().getTime() - found.at.getTime();
    return { got: found.got, isRefused: Math.abs(age) < refusedFor };
  }

  async note(
    provider: ProviderAddress,
    sha256: Sha256,
    got: string,
  ): Promise<void> {
    const at = this.#clock.now().toISOString();
    const key = keyOf(provider, sha256);
    await this.#records.change(key, readBody, () => ({ got, at }));
  }

  /** It came right. */
  async clear(provider: ProviderAddress, sha256: Sha256): Promise<void> {
    const key = keyOf(provider, sha256);
    if ((await this.#records.read(key, readBody)) !== undefined)
      await this.#records.remove(key);
  }
}

function keyOf(
  { hostname, namespace, type }: ProviderAddress,
  sha256: Sha256,
): RecordKey {
  return ["wrong_archives", hostname, namespace, type, sha256];
}
