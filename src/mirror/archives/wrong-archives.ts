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

export type WrongArchives = ReturnType<typeof makeWrongArchives>;

/**
 * What came in place of archives, by provider and digest, so that nobody's lies refuse another one's archive: a client
 * whose body was cut learns why at its next try, and people from every process.
 */
export function makeWrongArchives(records: RecordStore, clock: Clock) {
  const keyOf = (provider: ProviderAddress, sha256: Sha256): RecordKey => {
    const { hostname, namespace, type } = provider;
    return ["wrong_archives", hostname, namespace, type, sha256];
  };
  return {
    /** The SHA-256 of what came last, if it was not right, and whether that is so lately that the archive is refused. */
    async find(provider: ProviderAddress, sha256: Sha256) {
      const found = await records.read(keyOf(provider, sha256), readBody);
      if (found === undefined) return undefined;
      const age = clock.now().getTime() - found.at.getTime();
      return { got: found.got, isRefused: Math.abs(age) < refusedFor };
    },

    async note(provider: ProviderAddress, sha256: Sha256, got: string) {
      const at = clock.now().toISOString();
      const key = keyOf(provider, sha256);
      await records.change(key, readBody, () => ({ got, at }));
    },

    /** It came right. */
    async clear(provider: ProviderAddress, sha256: Sha256) {
      const key = keyOf(provider, sha256);
      if ((await records.read(key, readBody)) !== undefined)
        await records.remove(key);
    },
  };
}
