import { LRUCache } from "lru-cache";
import { pino, type DestinationStream, type LoggerOptions } from "pino";
import { isoTime } from "./iso-time.ts";

/** The same line again and again: what stands around its time and what differs, or nothing below the level of the log. */
export type LineForm = readonly [before: string, after: string] | "none";

/** About 1 KiB each. */
const mostForms = 500;
/** No character of JSON. */
const mark = "\0";

/**
 * Lines that are written thousands of times a second and differ in little: what
 * many have in common is formatted and redacted once, by the logger's own rules.
 */
export class RepeatedLines {
  readonly #format: (fields: object, message: string) => string;
  readonly #destination: DestinationStream;
  readonly #forms = new LRUCache<string, LineForm>({
    max: mostForms,
  });

  /** `options` and `destination` are the logger's. */
  constructor(options: LoggerOptions, destination: DestinationStream) {
    let line = "";
    const memory = { write: (text: string) => void (line = text) };
    const logger = pino({ ...options, timestamp: () => mark }, memory);
    this.#format = (fields, message) => {
      line = "";
      logger.info(fields, message);
      return line;
    };
    this.#destination = destination;
  }

  /** What clients wrote in `common` is redacted. */
  formOf(common: object, message: string): LineForm {
    const name = `${message} ${JSON.stringify(common)}`;
    const known = this.#forms.get(name);
    if (known !== undefined) return known;
    const [before = "", after] = this.#format(common, message).split(mark);
    const form = after === undefined ? "none" : ([before, after] as const);
    this.#forms.set(name, form);
    return form;
  }

  /** The texts of `own` are no client's. */
  write(form: LineForm, own: Readonly<Record<string, string | number>>): void {
    if (form === "none") return;
    let line = form[0] + isoTime();
    for (const key in own) {
      const value = own[key];
      line += `,"${key}":${typeof value === "number" ? value : JSON.stringify(value)}`;
    }
    this.#destination.write(line + form[1]);
  }
}
