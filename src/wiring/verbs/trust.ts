import { z } from "zod";
import {
  approveContent,
  revokeContent,
} from "../../commands/trust/contents.ts";
import type { TrustParts } from "../../commands/trust/decision.ts";
import { decideKey } from "../../commands/trust/keys.ts";
import { listTrust } from "../../commands/trust/list.ts";
import { resetTrust } from "../../commands/trust/reset.ts";
import { failure } from "../../errors/index.ts";
import { hostsOf } from "./hosts.ts";
import { flag, text, verb, type OpenMirror, type VerbIo } from "./verb.ts";

export const list = verb({ json: flag }, ({ json }, { trust, admission }, io) =>
  listTrust(trust, admission.rules, { json }, io),
);

/** Arguments of a decision. */
const decision = {
  what: text,
  key: text,
  for: text,
  sha256sums: text,
  because: text,
};

type DecisionInput = z.output<z.ZodObject<typeof decision>>;

/** Approves a content of a release, or with `key` a signing key. */
export const approve = decide("approved", approveContent);

export const revoke = decide("revoked", revokeContent);

function decide(
  verdict: "approved" | "revoked",
  onContent: typeof approveContent,
) {
  return verb(decision, async (input, mirror, io) => {
    const parts = partsOf(mirror, io, input.because);
    const { key, subject } = readDecided(input);
    return key === undefined
      ? onContent(parts, subject, input.sha256sums)
      : decideKey(parts, subject, key, verdict);
  });
}

/** Contents and keys are never decided on at once. */
function readDecided({ what, key, for: scope, sha256sums }: DecisionInput) {
  const [subject, ...more] = [what, scope].filter((one) => one !== undefined);
  if (key === undefined && scope !== undefined)
    throw failure(
      "arguments",
      "--for",
      "it is for a key alone",
      "add --key FINGERPRINT",
    );
  if (key === undefined && subject === undefined)
    throw failure(
      "arguments",
      "trust",
      "there is nothing to decide on",
      "name a release, such as acme/net@1.2.0, or a key with --key FINGERPRINT",
    );
  if (key !== undefined && sha256sums !== undefined)
    throw failure(
      "arguments",
      "--sha256sums",
      "it names a content",
      "leave out --key, or --sha256sums",
    );
  if (subject !== undefined && more.length === 0) return { key, subject };
  throw failure(
    "arguments",
    "--key",
    "what the key counts for is needed once",
    "give the namespace, provider or release, behind --for or alone",
  );
}

export const reset = verb(
  { what: z.string(), because: text },
  async ({ what, because }, mirror, io) => {
    await resetTrust(partsOf(mirror, io, because), what);
    return 0;
  },
);

function partsOf(
  { trust, records, admission, telemetry, configuration }: OpenMirror,
  { stdout, stderr, operator }: VerbIo,
  why: string | undefined,
): TrustParts {
  const { audit } = telemetry;
  return {
    ...{ trust, records, audit, stdout, stderr },
    operator: { by: operator, why },
    rules: admission.rules,
    hosts: hostsOf(configuration),
    now: () => new Date(),
  };
}
