import type { Exemption } from "../verification/signed-checksums.ts";
import type { Content } from "./content.ts";
import { noDecisions, type Decisions } from "./decisions.ts";

/** First contact with a provider: one event, written once. */
export interface FirstContact {
  /** Random; another contact has another one. */
  readonly id: string;
  readonly at: Date;
  readonly by: "list" | "bundle";
  /** Versions that existed then. */
  readonly versions: ReadonlySet<string>;
  /** Fingerprints of the primary keys that the registry published then. */
  readonly published: ReadonlySet<string>;
  /** Signer of the newest release; undefined for an unsigned one. */
  readonly key: string | undefined;
  /** Version of the newest release. */
  readonly newest: string;
}

/** A key that counts for one provider because it was the first to sign after an unsigned first contact. */
interface ProviderKey {
  readonly type: string;
  /** Version that it was the first to sign; that one is reported as such. */
  readonly version: string;
  readonly fingerprint: string;
}

/** The key of a namespace's very first contact. */
interface NamespaceKey {
  /** Undefined for an unsigned release, or when an operator had approved keys before. */
  readonly fingerprint: string | undefined;
  /** Provider of that contact. */
  readonly type: string;
}

/** Trust on first use and decisions of one namespace. */
export interface NamespaceTrust {
  /** Undefined before the first contact with any provider. */
  readonly firstKey: NamespaceKey | undefined;
  readonly providerKeys: readonly ProviderKey[];
  readonly decisions: Decisions;
}

export const emptyNamespace: NamespaceTrust = {
  firstKey: undefined,
  providerKeys: [],
  decisions: noDecisions,
};

/** Reason why a key, or its absence, is acceptable for a release. */
export type Acceptance =
  | "configured"
  | "approved"
  | "known"
  | "same-digests"
  | "existed"
  | "first-key"
  | "new"
  | "signatures-off"
  | "unsigned";

/** Reasons why verified evidence is a candidate. */
export const candidateReasons = [
  "revoked",
  "revoked-content",
  "not-pinned",
  "unknown",
  "other-content",
] as const;

export type CandidateReason = (typeof candidateReasons)[number];

/** Reason why a key, or its absence, is not acceptable. */
export type KeyRefusal = Exclude<CandidateReason, "other-content">;

/** One SHA256SUMS with one signature, or unsigned under an exemption. */
export interface Evidence {
  /** SHA-256 of document and signature; of the document alone under an exemption. */
  readonly id: string;
  /** SHA-256 of the document. */
  readonly sha256sums: string;
  readonly content: Content;
  /** Fingerprint of the primary key; undefined under an exemption. */
  readonly signedBy: string | undefined;
  readonly signedAt: Date | undefined;
  readonly exemption: Exemption | undefined;
  /** True while the registry's newest readable keys and the configuration confirm it. */
  readonly isGood: boolean;
  /** Last verdict that was reported to people; undefined before any. */
  readonly noted: Acceptance | CandidateReason | "signature" | undefined;
}

/** Content that was admitted first. */
export interface PinnedChecksums {
  readonly content: Content;
  /** SHA-256 of the SHA256SUMS that pinned it. */
  readonly sha256sums: string;
  /** Fingerprint of the key that it was admitted under; undefined for an unsigned release. */
  readonly signedBy: string | undefined;
  readonly at: Date;
}

/** A release: its pinned checksums and the evidence about it. */
export interface ReleaseTrust<E extends Evidence = Evidence> {
  readonly pinned: PinnedChecksums | undefined;
  /** The one that was offered last comes last. */
  readonly evidence: readonly E[];
  /** Fingerprints that the registry publishes now, by its newest readable answer. */
  readonly published: ReadonlySet<string>;
}
