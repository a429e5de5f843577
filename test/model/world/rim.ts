import type { Answer } from "./answers.ts";
import type { Lie } from "./actions.ts";
import type { Ask } from "./mirror-process.ts";

/** Result of a `trust` command. */
export interface Ran {
  readonly answer: Answer;
  readonly stdout: string;
}

/** A row of what needs a decision. */
export interface PendingRow {
  readonly version: string;
  readonly sha256sums: string;
  /** Command that approves exactly this content; undefined while the configuration excludes its key. */
  readonly command: string | undefined;
}

/** Questions of clients that come at once. */
export interface Burst {
  readonly asks: readonly (Ask & { readonly process: number })[];
  /** Seed of how long everything takes. */
  readonly pace: number;
  /** Lie of the registry in the meantime. */
  readonly midway: Lie | undefined;
}
