import { randomFrom } from "../random.ts";

/** A write at which a process dies. */
export interface CrashPoint {
  /** Writes that still succeed. */
  readonly writes: number;
  readonly when: "before" | "after";
}

/** One run of a modelled process: everything that it waits for ends with it. */
export class Life {
  readonly #died = Promise.withResolvers<"dead">();
  #crash: CrashPoint | undefined;
  #turns: ((most: number) => number) | undefined;
  isDead = false;

  /** Resolves when the process has died. */
  get died(): Promise<"dead"> {
    return this.#died.promise;
  }

  end(): void {
    this.isDead = true;
    this.#died.resolve("dead");
  }

  /** Has the process die at one of its next writes. */
  crashAt(point: CrashPoint | undefined): void {
    this.#crash = point;
  }

  /** Has every wait take a random number of turns from now on; undefined: none. */
  paceBy(seed: number | undefined): void {
    this.#turns = seed === undefined ? undefined : randomFrom(seed).below;
  }

  /** Waits as long as storage or an origin takes; never ends for a dead process. */
  async wait(most: number): Promise<void> {
    if (this.isDead) await never;
    const turns = this.#turns?.(most) ?? 0;
    for (let turn = 0; turn < turns; turn++) await Promise.resolve();
    if (this.isDead) await never;
  }

  /** Carries out a write, unless the process dies before it; never ends where it dies after it. */
  async write(apply: () => void): Promise<void> {
    const { writes, when } = this.#crash ?? { writes: Infinity, when: "after" };
    if (writes <= 0 && when === "before") await this.#die();
    apply();
    if (writes <= 0) await this.#die();
    if (this.#crash !== undefined) this.#crash = { writes: writes - 1, when };
  }

  async #die(): Promise<void> {
    this.end();
    await never;
  }
}

const never = new Promise<void>(() => undefined);
