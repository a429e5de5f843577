import {
  failure,
  isOriginFailure,
  ProvenderError,
} from "../../errors/index.ts";
import { justNow } from "../../mirror/providers/provider-mirror.ts";
import { findOperator } from "../../config/environment.ts";
import { isCandidate } from "../../trust/standing.ts";
import type { OpenMirror } from "../../wiring/open-mirror.ts";
import { type Flags, hostsOf, onStore } from "../command.ts";
import { stdout } from "../output/report.ts";
import { decideContent } from "./contents.ts";
import type { Deed, TrustParts } from "./decision.ts";
import { decideKey } from "./keys.ts";

interface DecisionFlags extends Flags {
  readonly spec?: string;
  readonly digest?: string;
  readonly key?: string;
  readonly for?: string;
  readonly because?: string;
}

/** Makes the command that decides on a content of a release, or with `--key` on a signing key. */
function decide(deed: Deed) {
  return (flags: DecisionFlags): Promise<number> =>
    onStore(flags, async (mirror) => {
      const { spec, digest, key, for: scope, because } = flags;
      const parts = partsOf(mirror, because);
      if (spec !== undefined && key === undefined && scope === undefined)
        return decideContent(parts, spec, digest, deed);
      if (spec === undefined && key !== undefined && scope !== undefined)
        return decideKey(parts, scope, key, deed);
      throw failure(
        "arguments",
        `trust ${deed}`,
        "a decision is about one content or about one key",
        "name a release, such as acme/net@1.2.0, or a key with --key FINGERPRINT --for SCOPE",
      );
    });
}

export const approve = decide("approve");
export const revoke = decide("revoke");
export const forget = decide("forget");

function partsOf(mirror: OpenMirror, why: string | undefined): TrustParts {
  const { trust, records, admission, telemetry, providers, catalog } = mirror;
  return {
    ...{ trust, records, audit: telemetry.audit, stdout },
    operator: { by: findOperator(), why },
    rules: admission.rules,
    hosts: hostsOf(mirror.configuration),
    now: () => new Date(),
    lookUp: async (release) => {
      // That it is refused is what the operator decides on.
      const asked = { maxAge: justNow, absentFor: justNow };
      await providers.findRelease(release, asked).catch((error: unknown) => {
        const isRefused = error instanceof ProvenderError;
        if (!isRefused || isOriginFailure(error)) throw error;
      });
      const { evidence } = (await catalog.peekRelease(release))?.trust ?? {};
      return (evidence ?? [])
        .filter(
          ({ isGood, noted }) =>
            isGood && (noted === undefined || isCandidate(noted)),
        )
        .map(({ sha256sums, signedBy: fingerprint }) => ({
          ...{ sha256sums, fingerprint },
        }));
    },
  };
}
