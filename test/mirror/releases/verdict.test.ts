import { describe, expect, it } from "vitest";
import { isFailure } from "../../../src/errors/index.ts";
import { failing } from "../../scenes/failing.ts";
import {
  matchesPolicy,
  judgeProof,
  ownBytes,
  prepareProof,
  type ReleaseEvidence,
  type SignatureJudge,
  type SignaturePolicy,
} from "../../../src/mirror/releases/verdict.ts";
import type { ReleaseProof } from "../../../src/mirror/releases/release.ts";
import { address as thing } from "../../scenes/believed-releases.ts";
import {
  sketch as believe,
  digestOf,
  judgeFor,
} from "../../scenes/release-sketches.ts";

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
    expect(proof).toEqual({
      ...found,
      ...evidence,
      document: new Uint8Array(document),
      signature:
        "signature" in evidence ? undefined : new Uint8Array(signature),
      profile: "strict",
      exemption: proof.exemption,
      verifiedAt: now,
      library: "openssl",
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

describe("what speaks for a release", () => {
  it.each<
    [SignaturePolicy["signatures"], string, Partial<ReleaseEvidence>, string]
  >([
    ["required", "key and signature", {}, "to be verified"],
    ["required", "no key", noKey, "refused: signing key"],
    ["required", "no signature", noSignature, "refused: signature"],
    [
      "required",
      "neither",
      { ...noKey, ...noSignature },
      "refused: signing key",
    ],
    ["when-published", "key and signature", {}, "to be verified"],
    ["when-published", "no key", noKey, "unsigned-when-published"],
    [
      "when-published",
      "a key, and no signature",
      noSignature,
      "refused: signature",
    ],
    ["off", "key and signature", {}, "signatures-off"],
    ["off", "neither", { ...noKey, ...noSignature }, "signatures-off"],
  ])("under %s, with %s: %s", (signatures, _what, evidence, expected) => {
    expect(prepare(signatures, evidence)).toBe(expected);
  });
});

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

describe("a proof is judged", () => {
  it("by its signature, its keys, its profile and the moment of then", async () => {
    const { proof } = await believe({ by: "K" });
    const asked: unknown[] = [];
    const judge: SignatureJudge = {
      library: "",
      decide: (name, question) => {
        asked.push([name, question]);
        return judgeFor("K").decide(name, question);
      },
    };
    const { signedBy } = await judgeProof(thing, proof, judge);
    expect(signedBy).toBe("K");
    const { document, signature, keys, profile, verifiedAt } = proof;
    expect(asked).toEqual([
      [
        "registry.terraform.io/acme/thing 1.0.0",
        { document, signature, keys, profile, now: verifiedAt },
      ],
    ]);
  });

  it("by no key under an exemption", async () => {
    const { proof } = await believe({ by: undefined });
    const judge: SignatureJudge = {
      library: "",
      decide: () => Promise.reject(new Error("asked")),
    };
    const checksums = await judgeProof(thing, proof, judge);
    expect(checksums.exemption).toBe("unsigned-when-published");
    expect(checksums.signedBy).toBeUndefined();
  });

  it("to be refused without signature and exemption", async () => {
    const { proof } = await believe({ by: "K" });
    const bare = { ...proof, signature: undefined };
    const asked = judgeProof(thing, bare, judgeFor("K"));
    await expect(asked).rejects.toThrow(failing("signature-missing"));
  });

  it("to be refused where the signature is", async () => {
    const { proof } = await believe({ by: "K" });
    const judge: SignatureJudge = {
      library: "",
      decide: () =>
        Promise.resolve({
          accepted: false,
          reason: "revoked",
          detail: "revoked",
        }),
    };
    const asked = judgeProof(thing, proof, judge);
    await expect(asked).rejects.toThrow(failing("signature-refused"));
  });
});

it("a proof has memory of its own", () => {
  const large = Buffer.alloc(1_000, 1);
  const own = ownBytes({
    document: large.subarray(0, 10),
    signature: large.subarray(10, 12),
  });
  expect(own.document.buffer.byteLength).toBe(10);
  expect(own.signature?.buffer.byteLength).toBe(2);
  expect(
    ownBytes({ document, signature: undefined }).signature,
  ).toBeUndefined();
});
