import { createRequire } from "node:module";
import { type DestinationStream, type LoggerOptions, pino } from "pino";
import type { PrettyOptions } from "pino-pretty";
import { LineWriter } from "./line-writer.ts";

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
    timestamp: pino.stdTimeFunctions.isoTime,
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
let standardError: LineWriter | undefined;

function openStandardError(): LineWriter {
  const lines = new LineWriter(2);
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

/**
 * Signed part of an archive's URL: `EXPIRES.HOLDER.SIGNATURE`. EXPIRES is in
 * milliseconds since 1970, with 13 digits until 2286. Digits and dots may be
 * escaped, also more than once.
 * The rest up to the next unescaped space or quote belongs to it. A version
 * `MAJOR.MINOR.PATCH` made of a date does not match, unless a signature's
 * length of text follows.
 */
const ticket =
  /(?:[0-9]|%(?:25){0,9}3[0-9]){13,16}(?:\.|%(?:25){0,9}2e)(?!\d{1,16}\.\d{1,16}(?![\w-]{40}))(?:[^\s"\\]|\\.)*/gi;

/** A line for a log without what opens an archive; JSON stays JSON. */
export function redactTickets(line: string): string {
  return line.replaceAll(ticket, "[signed]");
}
