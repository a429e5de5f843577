import { parseArgs } from "node:util";
import {
  approveContent,
  revokeContent,
} from "../../../src/commands/trust/contents.ts";
import type { TrustParts } from "../../../src/commands/trust/decision.ts";
import { decideKey } from "../../../src/commands/trust/keys.ts";
import { resetTrust } from "../../../src/commands/trust/reset.ts";

/** Carries out `provender trust` with these arguments in this process. */
export async function runTrustCommand(
  parts: TrustParts,
  args: readonly string[],
): Promise<unknown> {
  const { values, positionals } = parseArgs({
    args: [...args],
    allowPositionals: true,
    options: {
      sha256sums: { type: "string" },
      key: { type: "string" },
      for: { type: "string" },
    },
  });
  const [verb, spec = ""] = positionals;
  const { sha256sums, key, for: scope = "" } = values;
  if (verb === "reset") return resetTrust(parts, spec);
  if (key !== undefined)
    return decideKey(
      ...([parts, scope, key] as const),
      verb === "approve" ? "approved" : "revoked",
    );
  return verb === "approve"
    ? approveContent(parts, spec, sha256sums)
    : revokeContent(parts, spec, sha256sums);
}
