import {
  formatProviderAddress,
  type ProviderAddress,
} from "../../address/provider-address.ts";
import type { AdmissionParts } from "../trust/admission.ts";
import type { JudgedRelease } from "./import-judgement.ts";

/**
 * The first bundle of a namespace is its first contact: every key in it is
 * remembered in one step, before any release is, so that an import that ends
 * half way goes on later as it began.
 */
export async function noteFirstKeys(
  parts: AdmissionParts,
  judged: readonly JudgedRelease[],
): Promise<void> {
  const first = judged.filter(
    ({ because, release }) =>
      because === "first-key" && release.checksums.signedBy !== undefined,
  );
  const namespaces = Map.groupBy(
    first,
    ({ address: { provider } }) => `${provider.hostname}/${provider.namespace}`,
  );
  for (const [namespace, releases] of namespaces) {
    const [one] = releases;
    if (one !== undefined)
      await noteKeys(parts, namespace, one.address.provider, releases);
  }
}

async function noteKeys(
  { ledger, audit, clock }: AdmissionParts,
  namespace: string,
  provider: ProviderAddress,
  releases: readonly JudgedRelease[],
): Promise<void> {
  const since = clock.now().toISOString();
  const because = "first-contact" as const;
  const byFingerprint = new Map(
    releases.flatMap(({ address, release }) => {
      const { signedBy: fingerprint } = release.checksums;
      const { version } = address;
      const { type } = address.provider;
      const key = { since, because, type, version };
      return fingerprint === undefined
        ? []
        : [[fingerprint, { ...key, fingerprint }] as const];
    }),
  );
  await ledger.noteSeen(provider, (seen) => {
    const known = new Set(seen.keys.map(({ fingerprint }) => fingerprint));
    const added = [...byFingerprint].filter(([name]) => !known.has(name));
    return { ...seen, keys: [...seen.keys, ...added.map(([, key]) => key)] };
  });
  for (const [fingerprint, { type, version }] of byFingerprint)
    await audit.record(
      {
        event: "new-key",
        verdict: "accepted",
        rule: `trust: ${because}`,
        provider: formatProviderAddress({ ...provider, type }),
        version,
        fingerprint,
        detail: `the first bundle of ${namespace}`,
      },
      { durable: true },
    );
}
