import {
  approveRelease,
  decideKey,
  listTrust,
  withdrawApproval,
  type TrustParts,
} from "../commands/operate/trust.ts";
import { loadConfiguration } from "../config/load.ts";
import { wireLedger } from "../wiring/command.ts";

export interface TrustFlags {
  readonly config?: string;
  readonly json?: boolean;
  readonly key?: string;
}

export function list(flags: TrustFlags): Promise<void> {
  const { json = false } = flags;
  return withLedger(flags, (parts) => listTrust(parts, { json }));
}

/** A release, or with `key` a signing key of a namespace. */
export function approve(what: string, flags: TrustFlags): Promise<void> {
  const { key } = flags;
  return withLedger(flags, (parts) =>
    key === undefined
      ? approveRelease(parts, what)
      : decideKey(parts, what, key, "approved"),
  );
}

export function revoke(what: string, flags: TrustFlags): Promise<void> {
  const { key } = flags;
  return withLedger(flags, (parts) =>
    key === undefined
      ? withdrawApproval(parts, what)
      : decideKey(parts, what, key, "revoked"),
  );
}

async function withLedger(
  { config }: TrustFlags,
  act: (parts: TrustParts) => Promise<void>,
): Promise<void> {
  const parts = await wireLedger(loadConfiguration({ file: config }));
  const stdout = (text: string) => void process.stdout.write(text);
  try {
    await act({ ...parts, now: () => new Date(), stdout });
  } finally {
    await parts.audit.close();
  }
}
