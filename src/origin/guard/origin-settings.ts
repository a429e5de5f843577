import type { AddressAllowance } from "./address-guard.ts";

/** Access to one origin; made by the wiring from the configuration. */
export interface OriginSettings extends AddressAllowance {
  /** URL where service discovery starts. */
  readonly url: URL;
  /** PEM certificates trusted in addition to the machine's. */
  readonly ca: string | undefined;
  /** Sent to `url`'s own scheme, host and port and nowhere else. */
  readonly token: string | undefined;
  readonly proxy: {
    readonly https: URL | undefined;
    readonly no: string | undefined;
  };
}

/** Sizes in bytes, times in milliseconds, rate in bytes a second. */
export type OriginLimits = Readonly<
  typeof fixed & Record<"archive" | "firstByte" | "rate" | "json", number>
>;

const MiB = 2 ** 20;

/** Those that no operator has a reason to set. */
const fixed = {
  /** A list of 5,000 versions for 15 platforms has 2.5 MiB. */
  originJson: 8 * MiB,
  /** The largest lists of public registries have a fiftieth. */
  versions: 50_000,
  checksums: MiB,
  signature: MiB / 64,
  keys: 2 * MiB,
  redirects: 10,
  connect: 5_000,
  /** Time without a byte of an archive after which its rest is requested on another connection. */
  stalled: 5_000,
  idle: 30_000,
  rateWindow: 60_000,
};

/** Adds what is fixed to the limits that an operator sets; the mirror has a seventh of `answer` for its own work. */
export function originLimits({
  archive,
  firstByte,
  rate,
  answer,
}: Readonly<
  Record<"archive" | "firstByte" | "rate" | "answer", number>
>): OriginLimits {
  const json = Math.ceil((answer * 6) / 7);
  return { ...fixed, archive, firstByte, rate, json };
}
