import { createHash, type Hash } from "node:crypto";
import { sha256Of, type Gap } from "./chain.ts";
import type { LogLine } from "./log-lines.ts";

/** Gathers the lines of a gap. */
export class UnchainedRun {
  readonly #runs: { readonly file: unknown; readonly hash: Hash }[] = [];
  #last: Buffer | undefined;

  /** `file` is the same for lines of the same file. */
  add(file: unknown, { bytes }: LogLine): void {
    if (this.#runs.at(-1)?.file !== file)
      this.#runs.push({ file, hash: createHash("sha256") });
    this.#runs.at(-1)?.hash.update(bytes).update("\n");
    this.#last = bytes;
  }

  /** Undefined when there are no such lines; then it is empty again. */
  take(): Gap | undefined {
    if (this.#last === undefined) return undefined;
    const last = sha256Of(this.#last);
    this.#last = undefined;
    const runs = this.#runs.splice(0).map(({ hash }) => hash.digest("hex"));
    return { runs, last };
  }
}
