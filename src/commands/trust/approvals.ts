import {
  formatProviderAddress,
  parseProviderAddress,
} from "../../address/provider-address.ts";
import { splitSpec } from "../../address/provider-spec.ts";
import { parseVersion } from "../../address/version.ts";
import {
  MalformedAddress,
  NotApprovable,
  NothingApproved,
  NothingToApprove,
} from "../../errors/index.ts";
import {
  formatRelease,
  type ReleaseAddress,
} from "../../mirror/releases/release.ts";
import {
  isSameRelease,
  knownKeys,
  namespaceKeys,
  readOffered,
  type Decisions,
  type NamespaceTrust,
  type ReleaseName,
} from "../../mirror/trust/namespace-trust.ts";
import type { TrustLedger } from "../../mirror/trust/ledger.ts";
import type { Namespace } from "../../mirror/trust/ledger-entry.ts";
import { parseFingerprint } from "../../verification/openpgp/keys/signing-key.ts";
import {
  expectNotRevoked,
  mostNamed,
  nameScope,
  recordDecision,
  withKey,
  type KeyScope,
  type TrustParts,
} from "./decision.ts";

/** What is held back or re-created, as it is approved. */
interface Offer {
  /** SHA-256 of its SHA256SUMS. */
  readonly digest: string;
  /** "none" when nobody signed. */
  readonly fingerprint: string;
  readonly isPinnedOut: boolean;
}

/**
 * `provender trust approve SPEC@VERSION`: exactly what is held back or re-created
 * of the release now is served, and its key is known from now on, for its provider
 * or its namespace. Throws NothingToApprove and NotApprovable.
 */
export async function approveRelease(
  parts: TrustParts,
  spec: string,
  scope: KeyScope,
): Promise<void> {
  const release = parseReleaseSpec(spec);
  const trust = await parts.ledger.read(release.provider);
  const { digest, fingerprint, isPinnedOut } = await findOffer(
    parts,
    release,
    trust,
  );
  const { provider } = release;
  const isKnown = (
    scope === "provider"
      ? knownKeys(trust, provider.type)
      : namespaceKeys(trust)
  ).has(fingerprint);
  const type = scope === "provider" ? provider.type : null;
  const teaches = fingerprint !== "none" && !isKnown;
  await decideRelease(
    parts,
    release,
    digest,
    fingerprint,
    teaches ? type : undefined,
  );
  const known = teaches
    ? `, and its signing key ${fingerprint} is known from now on for ${nameScope(provider, type)}`
    : "";
  const pinned = isPinnedOut
    ? `; "trust.keys" pins other keys, so that it stays held back`
    : "";
  parts.stdout(
    `${formatRelease(release)} is approved with SHA256SUMS ${digest}${known}${pinned}.\n`,
  );
}

/** `provender trust approve --ahead --key FINGERPRINT SPEC@VERSION`: that version alone, once it comes under that key. */
export async function approveAhead(
  parts: TrustParts,
  spec: string,
  fingerprintText: string,
): Promise<void> {
  const release = parseReleaseSpec(spec);
  const fingerprint = parseFingerprint(fingerprintText);
  const trust = await parts.ledger.read(release.provider);
  expectNotRevoked(release.provider, release.provider.type, trust, fingerprint);
  await decideRelease(parts, release, null, fingerprint, undefined);
  parts.stdout(
    `${formatRelease(release)} is approved ahead: it is served once it comes, if ${fingerprint} signed it.\n`,
  );
}

/** `provender trust revoke SPEC@VERSION`: takes an approval back. Throws NothingApproved. */
export async function withdrawApproval(
  parts: TrustParts,
  spec: string,
): Promise<void> {
  const { ledger, stdout } = parts;
  const release = parseReleaseSpec(spec);
  const name = nameOf(release);
  const { decisions } = await ledger.read(release.provider);
  const approved = decisions.releases.find((one) => isSameRelease(one, name));
  if (approved === undefined)
    throw new NothingApproved(
      formatRelease(release),
      nameReleases(release.provider, decisions.releases),
    );
  await ledger.decide(release.provider, ({ keys, releases }) => ({
    keys,
    releases: releases.filter((entry) => !isSameRelease(entry, name)),
  }));
  const { fingerprint } = approved;
  await recordDecision(parts, "revoked", {
    provider: formatProviderAddress(release.provider),
    version: release.version,
    fingerprint: fingerprint ?? undefined,
  });
  stdout(
    `${formatRelease(release)} is approved no more: it is refused unless its key is known otherwise${remindOfKey(release, decisions, fingerprint)}.\n`,
  );
}

/** What is in question of the release now; a re-creation comes before a key. */
async function findOffer(
  { ledger }: TrustParts,
  release: ReleaseAddress,
  trust: NamespaceTrust,
): Promise<Offer> {
  const name = nameOf(release);
  const { quarantined, replaced } = trust.seen;
  const held = quarantined.find((entry) => isSameRelease(entry, name));
  const other = replaced.find((entry) => isSameRelease(entry, name));
  if (held === undefined && other === undefined)
    throw new NothingToApprove(
      formatRelease(release),
      await listHeld(ledger, release.provider),
    );
  const offered = other && readOffered(other);
  const { digest, signer } =
    offered !== undefined && "digest" in offered
      ? { digest: offered.digest, signer: offered.signedBy ?? "none" }
      : { digest: held?.digest, signer: held?.fingerprint };
  if (typeof digest !== "string" || signer === undefined)
    throw describeUnapprovable(release, other?.offered);
  expectNotRevoked(
    release.provider,
    name.type,
    trust,
    signer,
    formatRelease(release),
  );
  const isPinnedOut = held?.reason === "not-pinned";
  return { digest, fingerprint: signer, isPinnedOut };
}

/** Only content that was verified has a digest to approve. */
function describeUnapprovable(
  release: ReleaseAddress,
  refused: string | undefined,
): NotApprovable {
  const name = formatRelease(release);
  return refused === undefined
    ? new NotApprovable(
        name,
        "an earlier version held it back, which did not note its content",
        "ask the mirror for it once more, and approve it then",
      )
    : new NotApprovable(
        name,
        `what the origin offers now is refused by itself (${refused})`,
        "it is served as it was first seen",
      );
}

/** With `type` undefined the key is not known thereby, with null it is for the whole namespace. */
async function decideRelease(
  parts: TrustParts,
  release: ReleaseAddress,
  offered: string | null,
  fingerprint: string,
  type: string | null | undefined,
): Promise<void> {
  const { ledger, now, operator } = parts;
  const name = nameOf(release);
  const decided = { at: now().toISOString(), ...operator };
  const key =
    type === undefined
      ? undefined
      : { fingerprint, decision: "approved" as const, type, ...decided };
  await ledger.decide(release.provider, ({ keys, releases }) => ({
    keys: key === undefined ? keys : withKey(keys, key),
    releases: [
      ...releases.filter((entry) => !isSameRelease(entry, name)),
      { ...name, offered, fingerprint, ...decided },
    ],
  }));
  await recordDecision(parts, "approved", {
    provider: formatProviderAddress(release.provider),
    version: release.version,
    fingerprint,
    detail: offered === null ? "ahead" : `SHA256SUMS ${offered}`,
  });
}

/** The releases that could have been meant, those of the same namespace first; what is unknown of others is in nobody's way. */
async function listHeld(
  ledger: TrustLedger,
  { hostname, namespace }: Namespace,
): Promise<readonly string[]> {
  const own: string[] = [];
  const others: string[] = [];
  for await (const one of ledger.readAll()) {
    if ("problem" in one) continue;
    const isOwn =
      one.namespace.hostname === hostname &&
      one.namespace.namespace === namespace;
    const { quarantined, replaced } = one.trust.seen;
    (isOwn ? own : others).push(
      ...nameReleases(one.namespace, [...quarantined, ...replaced]),
    );
  }
  return [...new Set([...own, ...others])].slice(0, mostNamed);
}

function nameReleases(
  { hostname, namespace }: Namespace,
  releases: readonly ReleaseName[],
): readonly string[] {
  return releases
    .slice(0, mostNamed)
    .map(({ type, version }) => `${hostname}/${namespace}/${type}@${version}`);
}

function remindOfKey(
  { provider }: ReleaseAddress,
  { keys }: Decisions,
  fingerprint: string | null,
): string {
  const key = keys.find(
    (one) =>
      one.fingerprint === fingerprint &&
      one.decision === "approved" &&
      (one.type === null || one.type === provider.type),
  );
  return key === undefined
    ? ""
    : `; the key that was approved with it stays known until "provender trust revoke --key ${key.fingerprint} --scope ${key.type === null ? "namespace" : "provider"} ${nameScope(provider, key.type)}"`;
}

function nameOf({ provider, version }: ReleaseAddress): ReleaseName {
  return { type: provider.type, version };
}

function parseReleaseSpec(spec: string): ReleaseAddress {
  const { name, chosen } = splitSpec(spec);
  if (chosen === undefined)
    throw new MalformedAddress(
      "release",
      spec,
      "[HOSTNAME/]NAMESPACE/TYPE@VERSION",
    );
  return {
    provider: parseProviderAddress(name),
    version: parseVersion(chosen),
  };
}
