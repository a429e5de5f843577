import { describe, expect, it } from "vitest";
import { isFailure } from "../../../src/errors/index.ts";
import {
  matchesPolicy,
  prepareProof,
  type ReleaseEvidence,
  type SignaturePolicy,
} from "../../../src/mirror/releases/evidence.ts";
import type { ReleaseProof } from "../../../src/mirror/releases/release.ts";
import { address as thing } from "../../scenes/release-sketches.ts";
import { sketch as believe, digestOf } from "../../scenes/release-sketches.ts";

const now = new Date("2026-01-01T00:00:00Z");
const document = Buffer.from(
  `${digestOf("a")}  terraform-provider-thing_1.0.0_linux_amd64.zip\n`,
);
const signature = Buffer.from("signature");

function prepare(
  signatures: SignaturePolicy["signatures"],
  evidence: Partial<ReleaseEvidence>,
): string {
  const found = {
    document,
    signature,
    keys: ["K"],
  } as const;
  try {
    const proof = prepareProof(
      thing,
      { ...found, ...evidence },
      { signatures, profile: "strict" },
      "openssl",
      now,
    );
    const kept = "signature" in evidence ? undefined : signature;
    expect(proof).toMatchObject({
      ...{ ...found, ...evidence, document: new Uint8Array(document) },
      signature: kept && new Uint8Array(kept),
      ...{ profile: "strict", verifiedAt: now, library: "openssl" },
    });
    return proof.exemption ?? "to be verified";
  } catch (error) {
    if (!isFailure(error, "signature-missing")) throw error;
    const { message, missing } = error;
    // The advice is given only where it helps.
    expect(message.includes("when-published")).toBe(missing !== "signature");
    return `refused: ${missing}`;
  }
}

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
] as const)(
  "under %s, with %s: %s",
  (signatures, _what, evidence, expected) => {
    expect(prepare(signatures, evidence)).toBe(expected);
  },
);

describe("a proof is on the terms of today", () => {
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
  ])("exempt by %s, under %s: %s", async (exemption, signatures, expected) => {
    const { proof } = await believe({ by: "K" });
    const exempt = { ...proof, exemption };
    const profile = "terraform";
    expect(matchesPolicy(exempt, { signatures, profile })).toBe(expected);
    expect(matchesPolicy(exempt, { signatures, profile: "strict" })).toBe(
      false,
    );
  });
});
