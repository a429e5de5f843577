import type { Registry } from "../test/fakes/registry.ts";
import type { Release } from "../test/fakes/release.ts";

const warmTypes = 8;
const size = 400_000;
/** Cold releases that the origin still has; the mirror keeps all of them. */
const mostCold = 20;

/** Publishes a few releases that every client asks for, and new ones all the time. */
export class Published {
  readonly warm: Release[] = [];
  readonly #cold: Release[] = [];
  readonly #registry: Registry;
  #made = 0;

  constructor(registry: Registry) {
    this.#registry = registry;
  }

  async start(): Promise<void> {
    for (let index = 0; index < warmTypes; index++) {
      const options = { type: `warm-${index}`, version: "1.2.3" };
      this.warm.push(await this.#registry.publish({ ...options, size }));
    }
  }

  /** Publishes a release that no client has asked for. */
  async publishNew(): Promise<Release> {
    const type = `cold-${this.#made++}`;
    const release = await this.#registry.publish({
      type,
      version: "2.0.0",
      size,
    });
    this.#cold.push(release);
    const oldest =
      this.#cold.length > mostCold ? this.#cold.shift() : undefined;
    if (oldest !== undefined) this.#registry.withdraw(oldest);
    return release;
  }
}
