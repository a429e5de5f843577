import { pino, stdTimeFunctions, type DestinationStream } from "pino";
import pretty from "pino-pretty";

export type Logger = ReturnType<typeof makeLogger>;

export interface LogSettings {
  readonly level: "trace" | "debug" | "info" | "warn" | "error" | "fatal";
  readonly format: "json" | "pretty";
}

/** Lines on standard error, JSON or for people; standard output belongs to the commands. */
export function makeLogger({ level, format }: LogSettings) {
  const options = { level, base: null, timestamp: stdTimeFunctions.isoTime };
  const destination: DestinationStream =
    format === "pretty"
      ? pretty({ destination: 2, sync: true, ignore: "pid,hostname" })
      : pino.destination({ dest: 2, sync: false });
  return pino(options, destination);
}
