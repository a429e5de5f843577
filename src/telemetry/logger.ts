import { createRequire } from "node:module";
import {
  pino,
  stdTimeFunctions,
  type DestinationStream,
  type LoggerOptions,
} from "pino";
import type { PrettyOptions } from "pino-pretty";
import { GatheredLines, mostGathered } from "./gathered-lines.ts";
import { redactTickets } from "./redaction.ts";

export type Logger = ReturnType<typeof makeLogger>;

export interface LogSettings {
  readonly level: "trace" | "debug" | "info" | "warn" | "error" | "fatal";
  readonly format: "json" | "pretty";
}

/** Lines on standard error, JSON or for people; standard output belongs to the commands. */
export function makeLogger({ level, format }: LogSettings) {
  const options: LoggerOptions = {
    level,
    base: null,
    timestamp: stdTimeFunctions.isoTime,
    formatters: { level: (level) => ({ level }) },
    // The last place that a line passes, so that nothing gets around it.
    hooks: { streamWrite: redactTickets },
  };
  const destination: DestinationStream =
    format === "pretty"
      ? makePretty({
          destination: 2,
          sync: true,
          singleLine: true,
          errorLikeObjectKeys: ["err"],
        })
      : (standardError ??= openStandardError());
  return pino(options, destination);
}

/** Characters that wait for whoever reads them; further lines are dropped, since clients make as many as they like. */
const mostWaiting = 32 * 1024 * 1024;

/** One for all loggers of a process. */
let standardError: GatheredLines | undefined;

function openStandardError(): GatheredLines {
  const limits = { minLength: mostGathered, maxLength: mostWaiting };
  const lines = new GatheredLines(
    pino.destination({ dest: 2, sync: false, ...limits }),
  );
  process.once("exit", () => lines.flushSync());
  return lines;
}

// Loaded on use, because it takes as long as everything else here and services log JSON.
function makePretty(options: PrettyOptions): DestinationStream {
  const require = createRequire(import.meta.url);
  const pretty = require("pino-pretty") as (
    options: PrettyOptions,
  ) => DestinationStream;
  return pretty(options);
}
