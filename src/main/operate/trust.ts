import {
  approveContent,
  revokeContent,
} from "../../commands/trust/contents.ts";
import type { TrustParts } from "../../commands/trust/decision.ts";
import { decideKey } from "../../commands/trust/keys.ts";
import { listTrust } from "../../commands/trust/list.ts";
import { resetTrust } from "../../commands/trust/reset.ts";
import { loadConfiguration, loadOperator } from "../../config/load.ts";
import { failure } from "../../errors/index.ts";
import { wireTrust } from "../../wiring/commands/store.ts";
import { wireRules } from "../../wiring/rules.ts";
import type { Flags } from "../flags.ts";
import { hostsOf } from "../options.ts";
import { output } from "../output.ts";

export interface TrustFlags extends Flags {
  readonly key?: string;
  readonly for?: string;
  readonly sha256sums?: string;
  readonly because?: string;
}

type What = string | undefined;

export function list(flags: TrustFlags): Promise<void> {
  const { json = false } = flags;
  return withTrust(flags, ({ trust, rules }) =>
    listTrust(trust, rules, { json }, output),
  );
}

/** A content of a release, or with `key` a signing key. */
export function approve(what: What, flags: TrustFlags): Promise<void> {
  const decided = readDecided(what, flags);
  return withTrust(flags, (parts) =>
    "key" in decided
      ? decideKey(parts, decided.scope, decided.key, "approved")
      : approveContent(parts, decided.spec, flags.sha256sums),
  );
}

export function revoke(what: What, flags: TrustFlags): Promise<void> {
  const decided = readDecided(what, flags);
  return withTrust(flags, (parts) =>
    "key" in decided
      ? decideKey(parts, decided.scope, decided.key, "revoked")
      : revokeContent(parts, decided.spec, flags.sha256sums),
  );
}

export function reset(what: string, flags: TrustFlags): Promise<void> {
  return withTrust(flags, async (parts) => {
    await resetTrust(parts, what);
    return 0;
  });
}

/** Contents and keys are never decided on at once. Throws an arguments error. */
function readDecided(
  what: What,
  { key, for: scope, sha256sums }: TrustFlags,
):
  { readonly key: string; readonly scope: string } | { readonly spec: string } {
  if (key === undefined) {
    if (scope !== undefined)
      throw failure(
        "arguments",
        "--for",
        "it is for a key alone",
        "add --key FINGERPRINT",
      );
    if (what !== undefined) return { spec: what };
    throw failure(
      "arguments",
      "trust",
      "there is nothing to decide on",
      "name a release, such as acme/net@1.2.0, or a key with --key FINGERPRINT",
    );
  }
  if (sha256sums !== undefined)
    throw failure(
      "arguments",
      "--sha256sums",
      "it names a content",
      "leave out --key, or --sha256sums",
    );
  const [subject, ...more] = [what, scope].filter((one) => one !== undefined);
  if (subject !== undefined && more.length === 0)
    return { key, scope: subject };
  throw failure(
    "arguments",
    "--key",
    "what the key counts for is needed once",
    "give the namespace, provider or release, behind --for or alone",
  );
}

async function withTrust(
  { config, because }: TrustFlags,
  act: (parts: TrustParts) => Promise<number>,
): Promise<void> {
  const configuration = loadConfiguration({ file: config });
  await using wired = await wireTrust(configuration);
  const operator = { by: loadOperator(), why: because };
  process.exitCode = await act({
    ...{ ...wired, ...output, operator },
    rules: wireRules(configuration),
    hosts: hostsOf(configuration),
    now: () => new Date(),
  });
}
