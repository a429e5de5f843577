import type { z } from "zod";
import type { parseNotify, parseProxy } from "./environment.ts";
import type { makeOrigin } from "./origins.ts";
import type { configurationSchema, s3Schema } from "./schema.ts";

/** A value with all that is in it read-only. */
type Frozen<T> = T extends
  string | number | boolean | bigint | URL | null | undefined
  ? T
  : T extends ReadonlyMap<infer K, infer V>
    ? ReadonlyMap<K, Frozen<V>>
    : { readonly [K in keyof T]: Frozen<T[K]> };

/** The effective configuration: parsed once, frozen; sizes in bytes, durations in milliseconds, paths absolute. */
export type Configuration = Frozen<
  z.output<ReturnType<typeof configurationSchema>>
> & {
  /** From HTTPS_PROXY and NO_PROXY, or their lower-case forms; the URL may hold credentials. */
  readonly proxy: Frozen<ReturnType<typeof parseProxy>>;
  /** From NOTIFY_SOCKET and WATCHDOG_USEC (sd_notify(3), sd_watchdog_enabled(3)). */
  readonly notify: Frozen<ReturnType<typeof parseNotify>>;
  /** From PATH: where `git` and `ssh` are looked for. */
  readonly searchPath: string;
  /** The file that was read; undefined when there is none. */
  readonly source: string | undefined;
};

export type OriginConfiguration = Frozen<ReturnType<typeof makeOrigin>>;
export type S3Configuration = Frozen<z.output<ReturnType<typeof s3Schema>>>;
