import type { PackageHash } from "../../address/hash.ts";
import type { Platform } from "../../address/platform.ts";
import type { ProviderOrigin } from "../../origin/registries/provider-origin.ts";
import type { Clock } from "../cache/clock.ts";
import type { ReleaseAddress } from "./release.ts";
import type { SignatureJudge, SignaturePolicy } from "./verdict.ts";

/** One origin and how its releases are judged. */
export interface ReleaseOrigin {
  /**
   * Publication of the unsigned hashes that it reports beside its checksums.
   */
  readonly reportedHashes: "publish" | "withhold";
  readonly registry: ProviderOrigin;
  /** Milliseconds for which a list is fresh, if not the default. */
  readonly freshFor?: number | undefined;
  readonly policy: SignaturePolicy;
  readonly judge: SignatureJudge;
  readonly clock: Clock;
  /** Learns the digest of an archive that it names by these h1 alone; undefined where it names all of them by digest. */
  readonly learn?:
    | ((
        address: ReleaseAddress,
        platform: Platform,
        packageHashes: readonly PackageHash[],
      ) => Promise<void>)
    | undefined;
}
