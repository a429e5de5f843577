import type { Hostname } from "../../address/hostname.ts";
import type { AddressAllowance } from "./address-guard.ts";

/** How one origin is reached; made by the wiring from the configuration. */
export interface OriginSettings extends AddressAllowance {
  readonly hostname: Hostname;
  /** Where service discovery starts. */
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
export interface OriginLimits {
  readonly originJson: number;
  readonly versions: number;
  readonly checksums: number;
  readonly signature: number;
  readonly keys: number;
  readonly archive: number;
  readonly redirects: number;
  readonly connect: number;
  readonly firstByte: number;
  readonly json: number;
  readonly idle: number;
  readonly rate: number;
  readonly rateWindow: number;
}
