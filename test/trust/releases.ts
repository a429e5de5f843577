import type { Sha256 } from "../../src/address/hash.ts";
import type { ReleaseQuestion } from "../../src/trust/standing.ts";
import {
  emptyNamespace,
  type Evidence,
  type FirstContact,
  type NamespaceTrust,
} from "../../src/trust/state.ts";

/** Keys by their letters: K the publisher's, E an attacker's. */
export const K = "K".repeat(40);
export const K2 = "2".repeat(40);
export const E = "E".repeat(40);

export const day = 86_400_000;
export const start = new Date("2026-01-01T00:00:00Z");

export function later(milliseconds: number): Date {
  return new Date(start.getTime() + milliseconds);
}

/** Content as `linux=a darwin=b`: platforms and the first letter of their digests. */
export function content(text: string): Map<string, Sha256> {
  const words = text.split(" ").filter((word) => word !== "");
  return new Map(
    words.map((word) => {
      const [platform = "", letter = ""] = word.split("=");
      return [platform, letter.repeat(64) as Sha256];
    }),
  );
}

/** Good evidence over `linux=a`, signed by K before first contact. */
export function evidence(with_: Partial<Evidence> = {}): Evidence {
  const own = with_.content ?? content("linux=a");
  const sha256sums = [...own].join();
  const signedBy = "signedBy" in with_ ? with_.signedBy : K;
  return {
    ...{ id: `${sha256sums} by ${signedBy}`, sha256sums, content: own },
    ...{ signedBy, signedAt: later(-day), exemption: undefined },
    ...{ isGood: true, noted: undefined, ...with_ },
  };
}

/** Makes unsigned evidence, under `signatures: when-published`. */
export function unsigned(with_: Partial<Evidence> = {}): Evidence {
  return evidence({
    ...{ signedBy: undefined, signedAt: undefined },
    ...{ exemption: "unsigned-when-published", ...with_ },
  });
}

/** First contact at which version 1.0.0 existed and K had signed the newest. */
export function contact(with_: Partial<FirstContact> = {}): FirstContact {
  return {
    ...{ id: "first", at: start, by: "list", versions: new Set(["1.0.0"]) },
    ...{ published: new Set([K]), key: K, newest: "1.0.0", ...with_ },
  };
}

export function namespace(with_: Partial<NamespaceTrust> = {}): NamespaceTrust {
  const firstKey = { fingerprint: K, type: "aws" };
  return { ...emptyNamespace, firstKey, ...with_ };
}

/** A question on `acme/aws` 2.0.0, which came after first contact. */
export function question(
  with_: Partial<ReleaseQuestion> = {},
): ReleaseQuestion {
  return {
    name: { type: "aws", version: "2.0.0" },
    ...{ namespace: namespace(), contact: contact() },
    release: { pinned: undefined, evidence: [], published: new Set([K]) },
    rules: { newKeys: "accept-first", pins: undefined },
    age: {
      ...{ minimumAge: 0, isUnlisted: false, seenAt: undefined },
      now: later(day),
    },
    ...{ enforcesAge: true, ...with_ },
  };
}

/** Pinned checksums that K signed. */
export function pinned(text: string) {
  const sha256sums = [...content(text)].join();
  return { content: content(text), sha256sums, signedBy: K, at: start };
}

/** A decision on a key, for the provider unless `scope` says otherwise. */
export function keyDecision(
  fingerprint: string,
  decision: "approved" | "revoked",
  scope: { type?: string | null; version?: string | null } = {},
) {
  const at = start.toISOString();
  return { fingerprint, decision, type: "aws", version: null, at, ...scope };
}
