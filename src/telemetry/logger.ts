import { createRequire } from "node:module";
import { pino, type DestinationStream, type LoggerOptions } from "pino";
import type { PrettyOptions } from "pino-pretty";
import { GatheredLines, isoTime, LogFile } from "./log-file.ts";
import { redactTickets } from "./redaction.ts";

export type Logger = ReturnType<typeof pino<never>>;

interface LogSettings {
  readonly level: "trace" | "debug" | "info" | "warn" | "error" | "fatal";
  readonly format: "json" | "pretty";
}

/** Writes lines on standard error, JSON or for people; standard output belongs to the commands. */
export function makeLogger({ level, format }: LogSettings): Logger {
  const options: LoggerOptions = {
    level,
    base: null,
    timestamp: isoTime,
    formatters: { level: (level) => ({ level }) },
    // The last place that a line passes, so that nothing of a client's gets around it.
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

/** One for all loggers of a process. */
let standardError: GatheredLines | undefined;

function openStandardError(): GatheredLines {
  const lines = new GatheredLines(new LogFile(2));
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
