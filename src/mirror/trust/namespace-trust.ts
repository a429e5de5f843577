import { z } from "zod";
import { isFall, type OtherContent } from "../releases/continuity.ts";

const moment = z.iso.datetime();
const release = { type: z.string(), version: z.string() };

const because = z.enum([
  "pinned",
  "known",
  "approved",
  "resigned",
  "first-contact",
  "first-key",
  "new",
]);

/** What a key counts for: every provider of the namespace, one provider, or single releases alone. */
const scope = z.enum(["namespace", "provider", "release"]);

const writtenKey = z.object({
  fingerprint: z.string(),
  since: moment,
  because,
  scope: scope.optional(),
  ...release,
});

/** What the mirror saw of a namespace. */
export const seenShape = z.object({
  keys: z.array(writtenKey).transform(withScopes),
  /** What the first contact with each provider taught; the first one of a provider stays. */
  lessons: z
    .array(
      z.object({
        ...release,
        /** null when nobody signed the newest release. */
        fingerprint: z.string().nullable(),
        since: moment,
        /** True when a list taught it, and no bundle; records of earlier versions do not say. */
        byList: z.literal(true).optional(),
      }),
    )
    .default([]),
  /** Good signatures under keys that were not acceptable. */
  quarantined: z.array(
    z.object({
      ...release,
      /** "none" when nobody signed. */
      fingerprint: z.string(),
      /** SHA-256 of its SHA256SUMS; records of earlier versions have none. */
      digest: z.string().nullable().default(null),
      reason: z.enum(["revoked", "not-pinned", "unknown"]),
      since: moment,
    }),
  ),
  /** Releases that the origin offers with other content than the first that was seen. */
  replaced: z.array(
    z.object({
      ...release,
      /** SHA-256 of the SHA256SUMS now offered, or the code of its refusal. */
      offered: z.string(),
      /** null when nobody signed, and of what is refused. */
      fingerprint: z.string().nullable(),
      since: moment,
    }),
  ),
  /** Releases whose signature was good and is refused under the keys that the registry publishes now. */
  fallen: z
    .array(z.object({ ...release, reason: z.string(), since: moment }))
    .default([]),
  /** Releases that another key signed anew, with the same digests. */
  resigned: z
    .array(
      z.object({
        ...release,
        fingerprint: z.string(),
        since: moment,
        /** True where the key before was not good itself: this one is not believed for having signed the same. */
        unvouched: z.literal(true).optional(),
      }),
    )
    .default([]),
  /** True once an operator decided something: if the decisions are missing then, they were lost. */
  hasDecisions: z.literal(true).optional(),
});

const decided = {
  at: moment,
  /** The login name of the operator. */
  by: z.string().optional(),
  why: z.string().optional(),
};

/** What operators decided with `provender trust`. */
export const decisionsShape = z.object({
  keys: z.array(
    z.object({
      fingerprint: z.string(),
      decision: z.enum(["approved", "revoked"]),
      /** The provider that it is for; null: the whole namespace. */
      type: z.string().nullable().default(null),
      ...decided,
    }),
  ),
  releases: z.array(
    z.object({
      ...release,
      /** SHA-256 of the one SHA256SUMS that is approved; null for any under an approved-ahead key. */
      offered: z.string().nullable(),
      /** Of the key that it is approved under, "none" for nobody's; records of earlier versions have none. */
      fingerprint: z.string().nullable().default(null),
      ...decided,
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
  lessons: [],
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

/** Why a release fell; reasons that are none, such as an unreadable key block, are passed over. */
export function findFall(
  { seen }: NamespaceTrust,
  name: ReleaseName,
): Seen["fallen"][number] | undefined {
  return seen.fallen.find(
    (entry) => isSameRelease(entry, name) && isFall(entry.reason),
  );
}

/** Keys that new releases of this provider may be signed with; revoked ones are not taken out here. */
export function knownKeys(
  trust: NamespaceTrust,
  type: string,
): ReadonlySet<string> {
  const { seen, decisions } = trust;
  const learnt = seen.keys.filter(
    (key) =>
      key.scope === "namespace" ||
      (key.scope === "provider" && key.type === type),
  );
  return fingerprintsOf([...learnt, ...decidedOf(decisions, "approved", type)]);
}

/** Keys that are known for every provider of the namespace. */
export function namespaceKeys({
  seen,
  decisions,
}: NamespaceTrust): ReadonlySet<string> {
  const learnt = seen.keys.filter(({ scope }) => scope === "namespace");
  return fingerprintsOf([
    ...learnt,
    ...decidedOf(decisions, "approved", undefined),
  ]);
}

export function revokedKeys(
  { decisions }: NamespaceTrust,
  type: string,
): ReadonlySet<string> {
  return fingerprintsOf(decidedOf(decisions, "revoked", type));
}

/** True until the first contact with any provider of the namespace, unless an operator told of its keys before. */
export function isUnmet(trust: NamespaceTrust): boolean {
  return trust.seen.lessons.length === 0 && !hasKeys(trust);
}

/** True when a key is known for new releases of some provider of the namespace. */
export function hasKeys({ seen, decisions }: NamespaceTrust): boolean {
  return (
    seen.keys.some(({ scope }) => scope !== "release") ||
    decisions.keys.some(({ decision }) => decision === "approved")
  );
}

/** What first contact with the provider taught; undefined before. */
export function findLesson(
  { seen }: NamespaceTrust,
  type: string,
): Seen["lessons"][number] | undefined {
  return seen.lessons.find((lesson) => lesson.type === type);
}

/** What clients would get of a release, and on whose word. */
export interface OfferedContent {
  /** "none" when nobody signed. */
  readonly fingerprint: string;
  /** SHA-256 of its SHA256SUMS. */
  readonly digest: () => string;
}

/** True when an operator approved a release with exactly this content and key, or ahead of it any content under this key. */
export function isApproved(
  { decisions }: NamespaceTrust,
  name: ReleaseName,
  { fingerprint, digest }: OfferedContent,
): boolean {
  return decisions.releases.some(
    (approved) =>
      isSameRelease(approved, name) &&
      (approved.fingerprint === fingerprint || approved.fingerprint === null) &&
      (approved.offered === null
        ? approved.fingerprint !== null
        : approved.offered === digest()),
  );
}

type WrittenOffer = Pick<Seen["replaced"][number], "offered" | "fingerprint">;

/** As the ledger has it. */
export function writeOffered(other: OtherContent): WrittenOffer {
  return "digest" in other
    ? { offered: other.digest, fingerprint: other.signedBy ?? null }
    : { offered: other.refused, fingerprint: null };
}

export function readOffered(written: WrittenOffer): OtherContent {
  const { offered, fingerprint } = written;
  return /^[0-9a-f]{64}$/.test(offered)
    ? { digest: offered, signedBy: fingerprint ?? undefined }
    : { refused: offered };
}

/** True when an operator approved exactly this SHA256SUMS under this key in place of the first. */
export function isApprovedReplacement(
  { decisions }: NamespaceTrust,
  name: ReleaseName,
  { offered, fingerprint }: WrittenOffer,
): boolean {
  const key = fingerprint ?? "none";
  return decisions.releases.some(
    (approved) =>
      isSameRelease(approved, name) &&
      approved.offered === offered &&
      (approved.fingerprint ?? key) === key,
  );
}

/** With `type` undefined those that are for the whole namespace alone. */
function decidedOf(
  { keys }: Decisions,
  decision: "approved" | "revoked",
  type: string | undefined,
): Decisions["keys"] {
  return keys.filter(
    (key) =>
      key.decision === decision && (key.type === null || key.type === type),
  );
}

function fingerprintsOf(
  keys: readonly { readonly fingerprint: string }[],
): ReadonlySet<string> {
  return new Set(keys.map(({ fingerprint }) => fingerprint));
}

/**
 * Records of earlier versions do not say what a key counts for, and any of theirs
 * may have come with a new provider or an old release. The first one was learnt
 * while there was none to hold it against: it stays known for the namespace. The
 * others vouch for nothing to come; each provider's first contact is made up for.
 */
function withScopes(
  keys: readonly z.infer<typeof writtenKey>[],
): (z.infer<typeof writtenKey> & { scope: z.infer<typeof scope> })[] {
  const first = keys.find(({ because }) => because !== "pinned");
  return keys.map((key) => ({
    ...key,
    scope: key.scope ?? (key === first ? "namespace" : "release"),
  }));
}
