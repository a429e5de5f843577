import type { ProviderOrigin } from "../../origin/registries/provider-origin.ts";
import type { Clock } from "../cache/clock.ts";
import type { SignatureJudge, SignaturePolicy } from "./verdict.ts";

/** One origin and how its releases are judged. */
export interface ReleaseOrigin {
  readonly registry: ProviderOrigin;
  /** Milliseconds for which a list is fresh, if not the default. */
  readonly freshFor?: number | undefined;
  readonly policy: SignaturePolicy;
  readonly judge: SignatureJudge;
  readonly clock: Clock;
}
