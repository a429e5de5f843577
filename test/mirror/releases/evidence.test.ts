import { expect, it } from "vitest";
import { isFailure } from "../../../src/errors/index.ts";
import {
  matchesPolicy,
  prepareProof,
  type SignaturePolicy,
} from "../../../src/mirror/releases/evidence.ts";
import type { ReleaseProof } from "../../../src/mirror/releases/release.ts";
import { address, proofOf } from "../../scenes/release-sketches.ts";

const proof = proofOf({ by: "K" });
const noKey = { keys: [] };
const noSignature = { signature: undefined };
const neither = { ...noKey, ...noSignature };

it.each([
  ["required", "key and signature", {}, "to be verified"],
  ["required", "no key", noKey, "refused: signing key"],
  ["required", "no signature", noSignature, "refused: signature"],
  ["required", "neither", neither, "refused: signing key"],
  ["when-published", "key and signature", {}, "to be verified"],
  ["when-published", "no key", noKey, "unsigned-when-published"],
  ["when-published", "a key alone", noSignature, "refused: signature"],
  ["off", "key and signature", {}, "signatures-off"],
  ["off", "neither", neither, "signatures-off"],
] as const)("under %s, with %s: %s", (signatures, _what, changes, expected) => {
  const { document, signature, keys } = { ...proof, ...changes };
  const claim = { document, signature, keys };
  const policy = { signatures, profile: "strict" } as const;
  const now = new Date("2026-01-01T00:00:00Z");
  const prepare = () => {
    const made = prepareProof(address, claim, policy, "openssl", now);
    const terms = { profile: "strict", verifiedAt: now, library: "openssl" };
    expect(made).toMatchObject({ ...claim, ...terms });
    return made.exemption ?? "to be verified";
  };
  try {
    expect(prepare()).toBe(expected);
  } catch (error) {
    if (!isFailure(error, "signature-missing")) throw error;
    const { message, missing } = error;
    expect(`refused: ${missing}`).toBe(expected);
    // The advice is given only where it helps.
    expect(message.includes("when-published")).toBe(missing !== "signature");
  }
});

it.each<[ReleaseProof["exemption"], SignaturePolicy["signatures"], boolean]>([
  [undefined, "required", true],
  [undefined, "when-published", true],
  [undefined, "off", true],
  ["unsigned-when-published", "required", false],
  ["unsigned-when-published", "when-published", true],
  ["unsigned-when-published", "off", true],
  ["signatures-off", "required", false],
  ["signatures-off", "when-published", false],
  ["signatures-off", "off", true],
])(
  "a proof that is exempt by %s is on the terms of %s: %s",
  (exemption, signatures, expected) => {
    const matches = (profile: SignaturePolicy["profile"]) =>
      matchesPolicy({ ...proof, exemption }, { signatures, profile });
    expect(matches("terraform")).toBe(expected);
    expect(matches("strict")).toBe(false);
  },
);
