import { describe, expect, it } from "vitest";
import { parseFingerprint } from "../../src/verification/openpgp/keys/signing-key.ts";
import {
  decideKey,
  type KeyQuestion,
} from "../../src/verification/trust-policy.ts";

const known = parseFingerprint("C874011F0AB405110D02105534365D9472D7468F");
/** Ends in the same 16 digits, the key ID that registries publish. */
const lookalike = parseFingerprint(`${"0".repeat(24)}${known.slice(-16)}`);
const stranger = parseFingerprint("91A6E7F85D05C65630BEF18951852D87348FFC4C");
const firstContact = new Date("2026-01-01T00:00:00Z");
const before = new Date("2025-12-31T23:59:59Z");
const after = new Date("2026-01-01T00:00:01Z");

function decide(changes: Partial<KeyQuestion>): string {
  const verdict = decideKey({
    newKeys: "accept-first",
    signedBy: known,
    signedAt: before,
    pins: undefined,
    known: new Set([known]),
    revoked: new Set(),
    approved: false,
    signedAnew: false,
    isContinued: true,
    firstContact: undefined,
    ...changes,
  });
  return `${verdict.accepted ? "yes" : "no"}: ${verdict.because}`;
}

describe("a signing key", () => {
  it.each([
    ["known", {}, "yes: known"],
    [
      "that only looks alike in its last 16 digits",
      { signedBy: lookalike },
      "no: unknown",
    ],
    [
      "pinned in its last 16 digits",
      { signedBy: lookalike, pins: new Set([known]) },
      "no: not-pinned",
    ],
    [
      "revoked in its last 16 digits",
      { revoked: new Set([lookalike]) },
      "yes: known",
    ],
    ["unknown", { signedBy: stranger }, "no: unknown"],
    [
      "unknown, of a release signed before first contact",
      { signedBy: stranger, firstContact },
      "yes: first-contact",
    ],
    [
      "unknown, of a release signed at first contact",
      { signedBy: stranger, firstContact, signedAt: firstContact },
      "yes: first-contact",
    ],
    [
      "unknown, of a release in the first list but signed later",
      { signedBy: stranger, firstContact, signedAt: after },
      "no: unknown",
    ],
    [
      "unknown, of an approved release",
      { signedBy: stranger, approved: true },
      "yes: approved",
    ],
    [
      "unknown, of a release that was signed anew",
      { signedBy: stranger, signedAnew: true },
      "yes: resigned",
    ],
    [
      "the first of its namespace",
      { signedBy: stranger, known: new Set<string>(), isContinued: false },
      "yes: first-key",
    ],
    [
      "the first, of a provider whose first contact taught none",
      { signedBy: stranger, known: new Set<string>() },
      "no: unknown",
    ],
    [
      "unknown, of a provider that nobody signed in a namespace with keys",
      { signedBy: stranger, isContinued: false },
      "no: unknown",
    ],
    [
      "new where new ones are accepted",
      { signedBy: stranger, newKeys: "accept" as const },
      "yes: new",
    ],
    [
      "known where new ones are refused",
      { newKeys: "refuse" as const },
      "no: not-pinned",
    ],
    [
      "pinned where new ones are refused",
      { newKeys: "refuse" as const, pins: new Set([known]) },
      "yes: pinned",
    ],
    ["known beside pins", { pins: new Set([stranger]) }, "no: not-pinned"],
    [
      "known beside pins where all are accepted",
      { pins: new Set([stranger]), newKeys: "accept" as const },
      "no: not-pinned",
    ],
    [
      "of an approved release beside pins",
      { pins: new Set([stranger]), approved: true },
      "no: not-pinned",
    ],
    [
      "of first contact beside pins",
      { pins: new Set([stranger]), firstContact },
      "no: not-pinned",
    ],
    [
      "revoked though pinned",
      { pins: new Set([known]), revoked: new Set([known]) },
      "no: revoked",
    ],
    [
      "revoked though approved",
      { approved: true, revoked: new Set([known]) },
      "no: revoked",
    ],
    [
      "revoked where all are accepted",
      { newKeys: "accept" as const, revoked: new Set([known]) },
      "no: revoked",
    ],
    [
      "revoked and the only one, and another comes",
      { signedBy: stranger, revoked: new Set([known]) },
      "no: unknown",
    ],
  ])("%s", (_name, changes, expected) => {
    expect(decide(changes)).toBe(expected);
  });
});

describe("a release without a signature", () => {
  const unsigned = { signedBy: undefined, signedAt: undefined };
  it.each([
    [
      "in a namespace without keys",
      { known: new Set<string>(), isContinued: false },
      "yes: first-key",
    ],
    ["in the first list", { firstContact }, "yes: first-contact"],
    ["after signed ones", {}, "no: unknown"],
    ["after signed ones, approved", { approved: true }, "yes: approved"],
    ["beside pins", { pins: new Set([known]), firstContact }, "no: not-pinned"],
    [
      "where only pinned keys count",
      { newKeys: "refuse" as const, firstContact },
      "no: not-pinned",
    ],
  ])("%s", (_name, changes, expected) => {
    expect(decide({ ...unsigned, ...changes })).toBe(expected);
  });
});
