import type { Answer } from "./answers.ts";
import type { Lie } from "./actions.ts";
import type { Imported } from "./bundle.ts";
import type { ReleaseName } from "./documents.ts";
import type { CrashPoint } from "./life.ts";
import type { Machine } from "./machine.ts";
import type { MemoryDisk } from "./memory-disk.ts";
import type { Ask } from "./mirror-process.ts";
import type { Offer } from "./registry.ts";
import type { Settings } from "./settings.ts";

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

/** Stage of a sequence: processes of a mirror, and commands beside them. */
export interface Rim {
  readonly machine: Machine;
  /** Number of processes that share the store. */
  readonly size: number;
  /** Undefined where no sequence spoils records or fills the disk. */
  readonly disk: MemoryDisk | undefined;
  /** True once a process died that was not asked anything, which may have cost an alarm. */
  readonly hasCrashed: boolean;
  /** Surveys have commands ask for every one of so many releases. */
  readonly commandsEvery: number;
  /** Called for each process that starts. */
  onStart: () => void;
  /** Asks a process, which is started again if it died. */
  ask(index: number, asked: Ask): Promise<Answer>;
  /** Asks at once; `change` happens in the middle of it. */
  askAtOnce(burst: Burst, change: () => void): Promise<readonly Answer[]>;
  /** Runs `provender trust` in a process of its own, which may die at a write. */
  runTrust(args: readonly string[]): Promise<Ran>;
  /** Lists what needs a decision of one release. */
  listPending(name: ReleaseName): Promise<readonly PendingRow[]>;
  /** Imports a bundle of these offers. */
  importOffers(index: number, offers: readonly Offer[]): Promise<Imported>;
  restart(index: number): Promise<void> | void;
  /** Has a process die at one of its next writes; from `size` on the next command. */
  crash(index: number, point: CrashPoint): void;
  /** Has all processes follow a changed configuration. */
  configure(
    change: Partial<Settings>,
    settings: Settings,
  ): Promise<void> | void;
  close(): Promise<void> | void;
}
