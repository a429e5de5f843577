import {
  formatModuleAddress,
  type ModuleAddress,
} from "../../address/module-address.ts";
import {
  formatTrustScope,
  parseResetScope,
  type TrustScope,
} from "../../address/specs/trust-scope.ts";
import { failure, isFailure } from "../../errors/index.ts";
import { moduleVersionNaming } from "../../mirror/modules/records.ts";
import { VersionRecords } from "../../mirror/versions/version-records.ts";
import { decidedNow, recordDecision, type TrustParts } from "./decision.ts";

/**
 * `provender trust reset PROVIDER|NAMESPACE|MODULE`: forgets first contacts that were lost, so that the next one
 * counts as the first (docs/trust.md, rule 3). Decisions and pinned checksums stay.
 */
export async function resetTrust(
  parts: TrustParts,
  text: string,
): Promise<void> {
  const scope = parseResetScope(text, parts.hosts);
  return "system" in scope
    ? resetModule(parts, scope)
    : resetContacts(parts, scope);
}

async function resetContacts(
  parts: TrustParts,
  scope: TrustScope,
): Promise<void> {
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

/** A list that can be read is not forgotten: the registry could say again how old its versions are. */
async function resetModule(
  parts: TrustParts,
  module: ModuleAddress,
): Promise<void> {
  const lists = new VersionRecords(parts.records, moduleVersionNaming);
  const name = formatModuleAddress(module);
  const isLost = await lists.read(module).then(
    () => false,
    (error: unknown) => {
      if (!isFailure(error, "record-unreadable")) throw error;
      return true;
    },
  );
  if (!isLost)
    throw failure(
      "trust-decision",
      name,
      "has no list of versions that was lost",
      "check the name in the alarm",
    );
  const detail = "list of its versions";
  await recordDecision(parts, "reset", { module: name, detail });
  await lists.forget(module);
  parts.stdout(
    `The list of versions of ${name} is forgotten: its registry says how old they are at the next one, as at first contact.\n`,
  );
}
