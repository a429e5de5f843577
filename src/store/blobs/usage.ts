import { open, readFile, stat } from "node:fs/promises";
import { parseSha256, type Sha256 } from "../../address/hash.ts";
import { writeDurably } from "../durable-file.ts";
import { classifyFileFailure } from "../file-failure.ts";
import { stagingPath, type StoreLayout } from "../layout.ts";

/** Milliseconds between two writes, for any number of used archives. */
const interval = 1_000;
/**
 * Bytes of the journal above which it is written again, with a line an archive.
 */
const compactAbove = 8 * 1024 * 1024;
/** Uses that wait for a disk that takes no writes. */
const mostPending = 100_000;
const line = /^([0-9a-f]{64}) ([0-9]{1,15})$/;

/**
 * Last uses of archives, over restarts. The file is a journal of lines `SHA256
 * MILLISECONDS`; the last line of an archive counts. A torn line is ignored.
 */
export class BlobUsage {
  readonly #layout: StoreLayout;
  readonly #pending = new Map<Sha256, number>();
  readonly #open = new Map<Sha256, number>();
  #writing: Promise<void> = Promise.resolve();
  #timer: NodeJS.Timeout | undefined;

  constructor(layout: StoreLayout) {
    this.#layout = layout;
  }

  /** The archive is in use until the returned function is called. */
  begin(sha256: Sha256): () => void {
    this.#open.set(sha256, (this.#open.get(sha256) ?? 0) + 1);
    this.note(sha256);
    return () => {
      const others = (this.#open.get(sha256) ?? 1) - 1;
      if (others > 0) this.#open.set(sha256, others);
      else this.#open.delete(sha256);
      this.note(sha256);
    };
  }

  /** It was used, here or by another replica, in milliseconds since 1970. */
  note(sha256: Sha256, at = Date.now()): void {
    if (this.#pending.size < mostPending || this.#pending.has(sha256))
      this.#pending.set(sha256, Math.max(at, this.#pending.get(sha256) ?? 0));
    this.#timer ??= setTimeout(() => void this.flush(), interval).unref();
  }

  /** True for an archive that is open. */
  isOpen(sha256: Sha256): boolean {
    return this.#open.has(sha256);
  }

  /** Returns the last uses, in milliseconds since 1970. */
  async read(): Promise<ReadonlyMap<Sha256, number>> {
    await this.flush();
    const uses = parseUses(await readIfPresent(this.#layout.lastUse));
    for (const [sha256, at] of this.#pending) uses.set(sha256, at);
    return uses;
  }

  /** Writes what is not written yet; a disk that takes nothing is tried again with the next use. */
  async flush(): Promise<void> {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    this.#writing = this.#writing.then(() => this.#write());
    await this.#writing;
  }

  async close(): Promise<void> {
    await this.flush();
  }

  /** Writes a long journal again. */
  async compact(): Promise<void> {
    const { lastUse } = this.#layout;
    const size = await stat(lastUse).then(
      (found) => found.size,
      () => 0,
    );
    if (size < compactAbove) return;
    const uses = await this.read();
    const text = [...uses].map(formatUse);
    const staged = stagingPath(this.#layout, "last-use");
    await writeDurably(staged, lastUse, text.join(""));
  }

  async #write(): Promise<void> {
    const uses = [...this.#pending];
    if (uses.length === 0) return;
    const text = uses.map(formatUse);
    try {
      await using file = await open(this.#layout.lastUse, "a", 0o600);
      await file.write(`\n${text.join("")}`);
    } catch {
      return;
    }
    for (const [sha256, at] of uses)
      if (this.#pending.get(sha256) === at) this.#pending.delete(sha256);
  }
}

function formatUse([sha256, at]: readonly [Sha256, number]): string {
  return `${sha256} ${at}\n`;
}

function parseUses(text: string): Map<Sha256, number> {
  const uses = new Map<Sha256, number>();
  for (const written of text.split("\n")) {
    const [, sha256, at] = line.exec(written) ?? [];
    if (sha256 !== undefined) uses.set(parseSha256(sha256), Number(at));
  }
  return uses;
}

async function readIfPresent(path: string): Promise<string> {
  try {
    return await readFile(path, "utf8");
  } catch (error) {
    // Without a journal, the times of the files count.
    if (classifyFileFailure(error) === undefined) throw error;
    return "";
  }
}
