import { z } from "zod";
import { isFall } from "../releases/continuity.ts";

const moment = z.iso.datetime();
const release = { type: z.string(), version: z.string() };

/** What the mirror saw of a namespace. */
export const seenShape = z.object({
  keys: z.array(
    z.object({
      fingerprint: z.string(),
      since: moment,
      because: z.enum([
        "pinned",
        "known",
        "approved",
        "resigned",
        "first-contact",
        "first-key",
        "new",
      ]),
      ...release,
    }),
  ),
  /** Good signatures under keys that were not acceptable. */
  quarantined: z.array(
    z.object({
      ...release,
      fingerprint: z.string(),
      reason: z.enum(["revoked", "not-pinned", "unknown"]),
      since: moment,
    }),
  ),
  /** Releases that the origin offers with other content than the first that was seen. */
  replaced: z.array(
    z.object({
      ...release,
      /** SHA-256 of the SHA256SUMS now offered. */
      offered: z.string(),
      fingerprint: z.string().nullable(),
      since: moment,
    }),
  ),
  /** Releases whose signature was good and is refused under the keys that the registry publishes now. */
  fallen: z
    .array(z.object({ ...release, reason: z.string(), since: moment }))
    .default([]),
  /** Releases of a known key that another one signed anew, with the same digests. */
  resigned: z
    .array(z.object({ ...release, fingerprint: z.string(), since: moment }))
    .default([]),
});

/** What operators decided with `provender trust`. */
export const decisionsShape = z.object({
  keys: z.array(
    z.object({
      fingerprint: z.string(),
      decision: z.enum(["approved", "revoked"]),
      at: moment,
    }),
  ),
  releases: z.array(
    z.object({
      ...release,
      /** SHA-256 of the one SHA256SUMS that replaces the first; null when only the key was in question. */
      offered: z.string().nullable(),
      at: moment,
    }),
  ),
});

export type Seen = Readonly<z.infer<typeof seenShape>>;
export type Decisions = Readonly<z.infer<typeof decisionsShape>>;

export interface NamespaceTrust {
  readonly seen: Seen;
  readonly decisions: Decisions;
}

export const nothingSeen: Seen = {
  keys: [],
  quarantined: [],
  replaced: [],
  fallen: [],
  resigned: [],
};
export const noDecisions: Decisions = { keys: [], releases: [] };

/** A release within its namespace. */
export interface ReleaseName {
  readonly type: string;
  readonly version: string;
}

export function isSameRelease(a: ReleaseName, b: ReleaseName): boolean {
  return a.type === b.type && a.version === b.version;
}

/** Why a release is believed no more; what only a block that nobody could read said does not count. */
export function findFall(
  { seen }: NamespaceTrust,
  name: ReleaseName,
): Seen["fallen"][number] | undefined {
  return seen.fallen.find(
    (entry) => isSameRelease(entry, name) && isFall(entry.reason),
  );
}

/** Keys that releases were accepted under or that were approved, less the revoked ones. */
export function knownKeys({
  seen,
  decisions,
}: NamespaceTrust): ReadonlySet<string> {
  const approved = decisions.keys
    .filter(({ decision }) => decision === "approved")
    .map(({ fingerprint }) => fingerprint);
  return new Set([
    ...seen.keys.map(({ fingerprint }) => fingerprint),
    ...approved,
  ]);
}

export function revokedKeys({
  decisions,
}: NamespaceTrust): ReadonlySet<string> {
  const revoked = decisions.keys.filter(
    ({ decision }) => decision === "revoked",
  );
  return new Set(revoked.map(({ fingerprint }) => fingerprint));
}

/** True when an operator approved this release as it is, whoever signed it. */
export function isApproved(
  { decisions }: NamespaceTrust,
  name: ReleaseName,
): boolean {
  return decisions.releases.some((approved) => isSameRelease(approved, name));
}

/** True when an operator approved exactly this SHA256SUMS in place of the first. */
export function isApprovedReplacement(
  { decisions }: NamespaceTrust,
  name: ReleaseName,
  offered: string,
): boolean {
  return decisions.releases.some(
    (approved) => isSameRelease(approved, name) && approved.offered === offered,
  );
}
