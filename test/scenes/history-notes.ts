import { expect } from "vitest";
import type { Continuity } from "../../src/mirror/releases/continuity.ts";
import type { Release } from "../../src/mirror/releases/release.ts";
import type { Seen } from "../../src/mirror/trust/namespace-trust.ts";
import {
  fallenError,
  ReleaseHistory,
} from "../../src/mirror/trust/release-history.ts";
import { address as thing } from "./believed-releases.ts";
import { sketch as believe } from "./release-sketches.ts";
import { since } from "./key-questions.ts";
import { noted, TrustNotes } from "./trust-notes.ts";

export type Known = Parameters<typeof TrustNotes.start>;

export const none = { change: { kind: "none" } } as const;
export const name = { type: "thing", version: "1.0.0" };
export const others = [
  { type: "thing", version: "2.0.0" },
  { type: "other", version: "1.0.0" },
];
export const at = noted.toISOString();
export const digest = "d".repeat(64);
export const replaced = (of: object = name, offered = digest) => ({
  ...of,
  offered,
  fingerprint: "S",
  since,
});
export const fell = (of: object = name, reason = "revoked") => ({
  ...of,
  reason,
  since,
});
export const resigned = (of: object = name, fingerprint = "T") => ({
  ...of,
  fingerprint,
  since,
});
export const approval = (offered = digest, of: object = name) => ({
  releases: [{ ...of, offered, fingerprint: "S", at: since }],
});
export const fallen = fallenError(thing, "revoked");

/** What is left of the notes on `thing 1.0.0`, on others, and in the audit log. */
export async function noteContinuity(
  known: Known,
  what: Omit<Continuity, "release">,
  by: string | null = "K",
  first?: Release,
) {
  const notes = await TrustNotes.start(...known);
  const release = await believe({ by: by ?? undefined });
  const history = new ReleaseHistory(notes.notebook);
  await history.note(notes.request(), first ?? release, { ...what, release });
  const audit = notes.audit();
  for (const line of audit)
    expect(line).toMatchObject({
      provider: "registry.terraform.io/acme/thing",
      version: "1.0.0",
    });
  const seen: Seen = await notes.seen();
  return { seen, release, audit, alarms: await notes.alarms() };
}
