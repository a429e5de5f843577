import { z } from "zod";
import type { Configuration } from "../../config/load.ts";
import type { Output } from "../../commands/output/report.ts";
import type { Progress } from "../../commands/output/progress.ts";
import { failure } from "../../errors/index.ts";
import type { ReadableFile } from "../../mirror/bundles/bundle-file.ts";
import type { StoreLayout } from "../../store/layout.ts";
import type { Core } from "../core.ts";
import type { Sample } from "../../telemetry/metrics.ts";
import type { Telemetry } from "../telemetry.ts";

/** An open store with its origins: the daemon's, or a command's own while no daemon works on it. */
export interface OpenMirror extends Core {
  readonly configuration: Configuration;
  readonly layout: StoreLayout;
  readonly telemetry: Telemetry;
  /** How the daemon is; undefined without a daemon. */
  readonly daemon?: RunningDaemon;
}

export interface RunningDaemon {
  readonly url: string;
  /** Throws not-ready. */
  checkReady(): Promise<void>;
  /** Reads all metrics. */
  readSamples(): Promise<readonly Sample[]>;
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

/** Runs a verb. Returns the exit status; throws arguments for an input in another shape. */
export type Verb = (
  input: unknown,
  mirror: OpenMirror,
  io: VerbIo,
) => Promise<number>;

export const flag = z.boolean().default(false);
export const text = z.string().optional();
export const texts = z.array(z.string());

/** Makes a verb of its arguments and flags, each with its shape, and of its function. */
export function verb<S extends z.ZodRawShape>(
  shape: S,
  run: (
    input: z.output<z.ZodObject<S>>,
    mirror: OpenMirror,
    io: VerbIo,
  ) => Promise<number>,
): Verb {
  const schema = z.strictObject(shape);
  return async (input, mirror, io) => {
    const parsed = schema.safeParse(input);
    if (!parsed.success) throw refuseInput(parsed.error);
    return run(parsed.data, mirror, io);
  };
}

/** Commands of this version never send such an input. */
function refuseInput({ issues: [issue] }: z.ZodError) {
  const { path = [], message = "wrong shape" } = issue ?? {};
  return failure(
    "arguments",
    path.length === 0 ? "arguments" : path.join("."),
    message,
    "run the command by the daemon's own version",
  );
}
