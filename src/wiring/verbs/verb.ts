import type { Configuration } from "../../config/load.ts";
import type { Output } from "../../commands/output/streams.ts";
import type { Progress } from "../../commands/output/progress.ts";
import type { ReadableFile } from "../../mirror/bundles/readable-file.ts";
import type { StoreLayout } from "../../store/layout.ts";
import type { Core } from "../core.ts";
import type { Telemetry } from "../telemetry.ts";

/** An open store with its origins: the daemon's, or a command's own while no daemon works on it. */
export interface OpenMirror extends Core {
  readonly configuration: Configuration;
  readonly layout: StoreLayout;
  readonly telemetry: Telemetry;
  /** How the daemon is; undefined without a daemon. */
  readonly daemon?: RunningDaemon;
}

interface RunningDaemon {
  readonly url: string;
  /** Throws not-ready. */
  checkReady(): Promise<void>;
  /** The text format of Prometheus. */
  renderMetrics(): Promise<string>;
}

/** Streams of one command, here or in another process. */
export interface VerbIo extends Output {
  /** Resolves when the text was taken, with false when it has no reader any longer. */
  readonly print: (text: string) => Promise<boolean>;
  /** Shows progress on standard error. */
  readonly makeProgress: () => Progress;
  /** Opens the file that the command names, as its user. */
  readonly openFile: (path: string) => Promise<ReadableFile>;
  /** Aborted when the command is interrupted or its process is gone. */
  readonly signal: AbortSignal;
  /** Login name of the operator. */
  readonly operator: string;
}

/** Runs `provender NAME` with a mirror. Returns the exit status. */
export type Verb<I> = (
  input: I,
  mirror: OpenMirror,
  io: VerbIo,
) => Promise<number>;
