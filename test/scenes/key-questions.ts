import { providerAddress } from "../../src/address/provider-address.ts";
import { parseVersion } from "../../src/address/version.ts";
import { askOfKey } from "../../src/mirror/trust/key-question.ts";
import {
  decisionsShape,
  seenShape,
  type NamespaceTrust,
} from "../../src/mirror/trust/namespace-trust.ts";
import type { Release } from "../../src/mirror/releases/release.ts";
import type { VersionList } from "../../src/mirror/releases/version-list.ts";
import { decideKey } from "../../src/verification/trust-policy.ts";

export const since = "2026-01-01T00:00:00.000Z";
export const contact = new Date(since);
export const provider = providerAddress(
  "registry.terraform.io",
  "acme",
  "thing",
);
export const first = parseVersion("1.0.0");
export const later = parseVersion("2.0.0");

/** The parts of a release that the decision is made from. */
export function releaseBy(fingerprint: string | undefined): Release {
  const signedAt = new Date("2025-01-01T00:00:00Z");
  return {
    checksums: { signedBy: fingerprint, signedAt, exemption: undefined },
    proof: { document: Buffer.from("sums") },
  } as unknown as Release;
}

export const entry = (version: typeof first, appeared: Date | undefined) =>
  [
    version,
    { version, appeared, listed: true, protocols: [], platforms: undefined },
  ] as const;

export const list: VersionList = {
  firstContact: contact,
  versions: new Map([entry(first, undefined), entry(later, new Date())]),
  warnings: [],
};

export function trustOf(
  seen: Readonly<Record<string, unknown>> = {},
  decisions: Readonly<Record<string, unknown>> = {},
): NamespaceTrust {
  const none = { keys: [], quarantined: [], replaced: [] };
  return {
    seen: seenShape.parse({ ...none, ...seen }),
    decisions: decisionsShape.parse({ keys: [], releases: [], ...decisions }),
  };
}

export function key(fingerprint: string, scope: string, type = "thing") {
  const because = "first-contact";
  return { fingerprint, scope, type, because, since, version: "1.0.0" };
}

export function lesson(fingerprint: string | null, type = "thing") {
  return { type, version: "1.0.0", fingerprint, since };
}

/** The verdict on a release, and why. */
export function decide(
  trust: NamespaceTrust,
  by: string | undefined,
  version = later,
  of: VersionList | undefined = list,
): string {
  const question = askOfKey({ provider, version }, releaseBy(by), of, trust);
  const verdict = decideKey({
    ...question,
    pins: undefined,
    newKeys: "accept-first",
  });
  return `${verdict.accepted ? "yes" : "no"}: ${verdict.because}`;
}
