import { pino } from "pino";
import { LineWriter } from "./line-writer.ts";

export type Logger = ReturnType<typeof pino<never>>;

interface LogSettings {
  readonly level: "trace" | "debug" | "info" | "warn" | "error" | "fatal";
}

/** Writes lines of JSON on standard error; standard output belongs to the commands. */
export function makeLogger({ level }: LogSettings): Logger {
  const options = {
    level,
    base: null,
    timestamp: pino.stdTimeFunctions.isoTime,
    formatters: { level: (level: string) => ({ level }) },
    // The last place that a line passes, so that nothing of a client's gets around it.
    hooks: { streamWrite: redactTickets },
  };
  return pino(options, (standardError ??= openStandardError()));
}

/** One for all loggers of a process. */
let standardError: LineWriter | undefined;

function openStandardError(): LineWriter {
  const lines = new LineWriter(2);
  process.once("exit", () => lines.flushSync());
  return lines;
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
