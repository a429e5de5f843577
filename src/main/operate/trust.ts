import {
  approveAhead,
  approveRelease,
  withdrawApproval,
} from "../../commands/trust/approvals.ts";
import type { KeyScope, TrustParts } from "../../commands/trust/decision.ts";
import { decideKey } from "../../commands/trust/keys.ts";
import { listTrust } from "../../commands/trust/list.ts";
import { loadConfiguration, loadOperator } from "../../config/load.ts";
import { ConfigurationInvalid } from "../../errors/index.ts";
import { wireLedger } from "../../wiring/commands/store.ts";
import type { Flags } from "../flags.ts";
import { output } from "../output.ts";

export interface TrustFlags extends Flags {
  readonly key?: string;
  readonly scope?: KeyScope;
  readonly ahead?: boolean;
  readonly because?: string;
}

export function list(flags: TrustFlags): Promise<void> {
  const { json = false } = flags;
  return withLedger(flags, async ({ ledger }) => {
    process.exitCode = await listTrust(ledger, { json }, output);
  });
}

/** A release, or with `key` a signing key, or with both and `ahead` a release to come. */
export function approve(what: string, flags: TrustFlags): Promise<void> {
  const { key, ahead = false, scope } = flags;
  return withLedger(flags, (parts) => {
    if (ahead) return approveAhead(parts, what, expectKey(key));
    return key === undefined
      ? approveRelease(parts, what, scope ?? "provider")
      : decideKey(parts, what, key, scope ?? "namespace", "approved");
  });
}

export function revoke(what: string, flags: TrustFlags): Promise<void> {
  const { key, scope } = flags;
  return withLedger(flags, (parts) =>
    key === undefined
      ? withdrawApproval(parts, what)
      : decideKey(parts, what, key, scope ?? "namespace", "revoked"),
  );
}

function expectKey(key: string | undefined): string {
  if (key !== undefined) return key;
  const problem = "it needs --key FINGERPRINT, who may sign that version.";
  throw new ConfigurationInvalid("--ahead", problem);
}

async function withLedger(
  { config, because }: TrustFlags,
  act: (parts: TrustParts) => Promise<void>,
): Promise<void> {
  await using parts = await wireLedger(loadConfiguration({ file: config }));
  const { stdout } = output;
  const operator = { by: loadOperator(), why: because };
  await act({ ...parts, operator, now: () => new Date(), stdout });
}
