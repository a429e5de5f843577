import { randomUUID } from "node:crypto";
import { formatProviderAddress } from "../../address/provider-address.ts";
import { readKeyNames } from "../../verification/fingerprints.ts";
import type { Clock } from "../cache/clock.ts";
import { orderCandidates, writeContact } from "../standings/first-contacts.ts";
import type { TrustEvents } from "../trust/trust-events.ts";
import type { JudgedRelease } from "./import-judgement.ts";

/**
 * Makes first contact with each provider of a bundle that had none: by the versions
 * and keys that the bundle carries. Versions that a list shows later came later
 * (docs/trust.md, rule 3).
 */
export async function makeContacts(
  { events, clock }: { readonly events: TrustEvents; readonly clock: Clock },
  judged: readonly JudgedRelease[],
): Promise<void> {
  const providers = Map.groupBy(judged, ({ request }) =>
    formatProviderAddress(request.provider),
  );
  for (const releases of providers.values()) {
    const newest = findNewest(releases);
    if (newest === undefined) continue;
    const { request, evidence } = newest;
    const { entry, provider, address } = request;
    await entry.renew();
    if ((await entry.findContact(provider.type)) !== undefined) continue;
    await writeContact(events, request, {
      id: randomUUID(),
      at: clock.now(),
      by: "bundle",
      versions: new Set(releases.map(versionOf)),
      published: new Set(releases.flatMap(listKeys)),
      key: evidence.signedBy,
      newest: address.version,
    });
  }
}

function findNewest(
  releases: readonly JudgedRelease[],
): JudgedRelease | undefined {
  const [version] = orderCandidates(releases.map(versionOf));
  return releases.find((one) => versionOf(one) === version);
}

function versionOf({ request }: JudgedRelease) {
  return request.address.version;
}

function listKeys({ evidence }: JudgedRelease): readonly string[] {
  const { proof, signedBy } = evidence;
  const named = [...readKeyNames(proof.keys).keys()];
  return signedBy === undefined ? named : [...named, signedBy];
}
