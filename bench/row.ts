import type { Figure } from "./figure.ts";
import type { Program } from "./programs.ts";

/** How much is measured. */
export interface Effort {
  readonly quick: boolean;
  /** How often each side is measured. */
  readonly rounds: number;
  /** Length of one measurement of requests a second. */
  readonly seconds: number;
  /** Archives in the store that is called large. */
  readonly archives: number;
}

/** One line of the table that is printed, or several that are measured together. */
export interface Row {
  readonly name: string;
  readonly what: string;
  readonly against: string;
  /** Without one of these the row is skipped. */
  readonly needs: readonly Program[];
  readonly run: (effort: Effort, scene: Scene) => Promise<readonly Figure[]>;
}

/** Processes and servers of a row; ends them in reverse order. */
export class Scene implements AsyncDisposable {
  readonly #ends: (() => Promise<unknown>)[] = [];
  readonly remarks: string[] = [];

  add<T extends { readonly stop: () => Promise<unknown> }>(started: T): T {
    this.#ends.push(() => started.stop());
    return started;
  }

  remark(text: string): void {
    if (!this.remarks.includes(text)) this.remarks.push(text);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    for (const end of this.#ends.toReversed()) await end();
  }
}
