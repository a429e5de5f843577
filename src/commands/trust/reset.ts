import {
  formatTrustScope,
  parseTrustScope,
} from "../../address/specs/trust-scope.ts";
import { failure } from "../../errors/index.ts";
import { decidedNow, recordDecision, type TrustParts } from "./decision.ts";

/**
 * `provender trust reset PROVIDER|NAMESPACE`: forgets first contacts that were lost,
 * so that the next one counts as the first (12-trust-model, rule 3). Decisions and
 * pinned checksums stay. Throws trust-decision.
 */
export async function resetTrust(
  parts: TrustParts,
  text: string,
): Promise<void> {
  const scope = parseTrustScope(text, parts.hosts);
  if (scope.version !== null)
    throw failure(
      "malformed-address",
      "provider or namespace",
      text,
      "[HOSTNAME/]NAMESPACE/TYPE or [HOSTNAME/]NAMESPACE",
    );
  const { trust, stdout } = parts;
  const subject = formatTrustScope(scope);
  const types = await trust.listTypes(scope);
  const known = scope.type === null ? types : [scope.type];
  const isLost = await trust.read(scope).then(
    () => false,
    () => scope.type === null,
  );
  if (!isLost && known.every((type) => !types.includes(type)))
    throw failure(
      "trust-decision",
      subject,
      "has neither a first contact nor a release here",
      'check the name in "provender trust list"',
    );
  await trust.reset(scope, scope.type ?? undefined, decidedNow(parts));
  await recordDecision(parts, "reset", {
    provider: subject,
    detail: `first contact with ${known.join(", ")}`,
  });
  stdout(
    `The first contact with ${subject} is forgotten: the next one teaches the keys that its registry publishes then. Check them with "provender trust list".\n`,
  );
}
