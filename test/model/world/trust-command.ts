import { parseArgs } from "node:util";
import { decideContent } from "../../../src/commands/trust/contents.ts";
import type { Deed, TrustParts } from "../../../src/commands/trust/decision.ts";
import { decideKey } from "../../../src/commands/trust/keys.ts";

/** Carries out `provender trust` with these arguments in this process. */
export async function runTrustCommand(
  parts: TrustParts,
  args: readonly string[],
): Promise<unknown> {
  const { values, positionals } = parseArgs({
    args: [...args],
    allowPositionals: true,
    options: { key: { type: "string" }, for: { type: "string" } },
  });
  const [verb, spec = "", digest] = positionals;
  const { key, for: scope = "" } = values;
  return key === undefined
    ? decideContent(parts, spec, digest, verb as Deed)
    : decideKey(parts, scope, key, verb as Deed);
}
