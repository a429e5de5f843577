import type { Configuration } from "../../config/load.ts";
import type { Output } from "../../commands/output/report.ts";
import type { Progress } from "../../commands/output/progress.ts";
import type { StoreLayout } from "../../store/layout.ts";
import type { Core } from "../core.ts";
import type { Telemetry } from "../telemetry.ts";

/** An open store with its origins, beside a daemon or without one. */
export interface OpenMirror extends Core {
  readonly configuration: Configuration;
  readonly layout: StoreLayout;
  readonly telemetry: Telemetry;
}

/** Streams of a command. */
export interface VerbIo extends Output {
  /** Resolves when the text was taken, with false when it has no reader any longer. */
  readonly print: (text: string) => Promise<boolean>;
  /** Shows progress on standard error. */
  readonly makeProgress: () => Progress;
  /** Aborted when the command is interrupted. */
  readonly signal: AbortSignal;
  /** Login name of the operator. */
  readonly operator: string;
}

export interface JsonFlag {
  readonly json?: boolean;
}
