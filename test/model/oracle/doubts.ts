/**
 * Times in which a process cannot know how old its records are: it was started
 * after the wall clock was set back, and takes them for younger by that much.
 */
export class Doubts {
  #stepped = -Infinity;
  #until = -Infinity;

  /** On the monotonic clock, as everything here. */
  get until(): number {
    return this.#until;
  }

  noteStep(milliseconds: number, now: number): void {
    if (milliseconds < 0)
      this.#stepped = Math.max(this.#stepped, now) - milliseconds;
  }

  noteStart(): void {
    this.#until = this.#stepped;
  }
}
