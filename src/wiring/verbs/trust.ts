import { decideContent } from "../../commands/trust/contents.ts";
import type { Deed, TrustParts } from "../../commands/trust/decision.ts";
import { decideKey } from "../../commands/trust/keys.ts";
import { listTrust } from "../../commands/trust/list.ts";
import {
  failure,
  isOriginFailure,
  ProvenderError,
} from "../../errors/index.ts";
import { justNow } from "../../mirror/providers/provider-mirror.ts";
import { isCandidate } from "../../trust/standing.ts";
import { hostsOf } from "./hosts.ts";
import type { JsonFlag, OpenMirror, VerbIo } from "./verb.ts";

export function list(
  { json = false, all = false }: JsonFlag & { readonly all?: boolean },
  { trust, admission, layout }: OpenMirror,
  io: VerbIo,
): Promise<number> {
  const { rules } = admission;
  return listTrust(trust, rules, layout.decisions, { json, all }, io);
}

interface DecisionFlags {
  readonly spec?: string;
  readonly digest?: string;
  readonly key?: string;
  readonly for?: string;
  readonly because?: string;
}

/** Makes the verb that decides on a content of a release, or with `key` on a signing key. */
function decide(deed: Deed) {
  return (input: DecisionFlags, mirror: OpenMirror, io: VerbIo) => {
    const { spec, digest, key, for: scope } = input;
    const parts = partsOf(mirror, io, input.because);
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
  };
}

export const approve = decide("approve");
export const revoke = decide("revoke");
export const forget = decide("forget");

function partsOf(
  mirror: OpenMirror,
  { stdout, stderr, operator }: VerbIo,
  why: string | undefined,
): TrustParts {
  const { trust, records, admission, telemetry, configuration } = mirror;
  const { providers, catalog } = mirror;
  const { audit } = telemetry;
  return {
    ...{ trust, records, audit, stdout, stderr },
    operator: { by: operator, why },
    rules: admission.rules,
    hosts: hostsOf(configuration),
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
