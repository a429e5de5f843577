import { z } from "zod";
import type { Failure } from "../../errors/index.ts";
import type { RecordKey } from "../../store/layout.ts";
import type { RecordStore } from "../../store/records/record-store.ts";

/** Bytes that came in place of a signed archive: the SHA-256 of what came, and when. */
const tampering = z.object({
  got: z.string(),
  at: z.iso.datetime().transform((text) => new Date(text)),
});

/** The archives that came with other bytes than were signed when they were asked for last: a record each, which also another replica reads. */
export class TamperedArchives {
  readonly #records: RecordStore;
  readonly #onUnwritten: (sha256: string, error: unknown) => void;
  #writing: Promise<void> = Promise.resolve();

  constructor(
    records: RecordStore,
    onUnwritten: (sha256: string, error: unknown) => void,
  ) {
    this.#records = records;
    this.#onUnwritten = onUnwritten;
  }

  /** The next request waits for it. */
  note({ expected, got }: Failure<"archive-digest">, at: Date): void {
    const body = { got, at: at.toISOString() };
    this.#write(expected, () => this.#records.write(recordKey(expected), body));
  }

  /** The archive itself came. */
  forget(sha256: string): void {
    const key = recordKey(sha256);
    this.#write(sha256, async () => {
      if ((await this.#records.sizeOf(key)) > 0)
        await this.#records.remove(key);
    });
  }

  async find(sha256: string): Promise<z.infer<typeof tampering> | undefined> {
    await this.#writing;
    return this.#records.read(recordKey(sha256), (body) =>
      tampering.parse(body),
    );
  }

  /** Until what was noted is on the disk. */
  async close(): Promise<void> {
    await this.#writing;
  }

  #write(sha256: string, write: () => Promise<void>): void {
    this.#writing = this.#writing
      .then(write)
      .catch((error: unknown) => this.#onUnwritten(sha256, error));
  }
}

function recordKey(sha256: string): RecordKey {
  return ["tampered-archives", sha256.slice(0, 2), sha256];
}
