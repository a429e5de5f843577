import { describe, expect, it } from "vitest";
import { parseSha256 } from "../../src/address/hash.ts";
import { failing } from "../scenes/failing.ts";
import { decideSignature } from "../../src/verification/signature-worker.ts";
import type {
  SignatureDecision,
  SignatureQuestion,
} from "../../src/verification/signatures.ts";
import {
  acceptUnsignedChecksums,
  findTrustedDigest,
  verifyRegistryDigest,
  verifySignedChecksums,
} from "../../src/verification/signed-checksums.ts";
import { createSigner } from "../fakes/signing.ts";

const release = "registry.example.com/acme/demo 1.0.0";
const name = "terraform-provider-demo_1.0.0_linux_amd64.zip";
const other = "terraform-provider-demo_1.0.0_darwin_arm64.zip";
const subject = {
  release,
  isOwn: (name: string) => name.startsWith("terraform-provider-demo_1.0.0_"),
};
const a = "a".repeat(64);
const b = "b".repeat(64);
const document = Buffer.from(`${a}  ${name}\n`);
const now = new Date("2026-06-01T00:00:00Z");

describe("a digest is trusted", () => {
  it("when the document that names it was signed, and who and when is kept", async () => {
    const signer = await createSigner({ algorithm: "ed25519" });
    const signature = await signer.sign(document);
    const keys = [signer.armoredPublicKey];
    const profile = "terraform";
    const claim = { subject, document, signature, keys, profile, now } as const;
    const asked: SignatureQuestion[] = [];
    const checksums = await verifySignedChecksums(claim, (question) => {
      asked.push(question);
      return decideSignature(question);
    });
    expect(asked).toEqual([{ document, signature, keys, profile, now }]);
    expect(checksums).toMatchObject({
      release,
      signedBy: signer.fingerprint,
      signedAt: new Date("2024-01-01T00:00:00Z"),
      exemption: undefined,
      warning: undefined,
    });
    expect(findTrustedDigest(checksums, name)).toBe(a);
  });

  it("and the warning of the decision is kept", async () => {
    const accepted: SignatureDecision = {
      accepted: true,
      signedBy: "K" as never,
      createdAt: now,
      warning: "old",
    };
    const signature = Buffer.of();
    const claim = { subject, document, signature, keys: [], now } as const;
    const checksums = await verifySignedChecksums(
      { ...claim, profile: "terraform" },
      () => Promise.resolve(accepted),
    );
    expect(checksums).toMatchObject({ signedBy: "K", warning: "old" });
  });

  it("not when the signature is over something else", async () => {
    const signer = await createSigner({ algorithm: "ed25519" });
    const signature = await signer.sign(Buffer.from(`${b}  ${name}\n`));
    const keys = [signer.armoredPublicKey];
    const claim = { subject, document, signature, keys, now } as const;
    const asked = verifySignedChecksums(
      { ...claim, profile: "terraform" },
      decideSignature,
    );
    await expect(asked).rejects.toThrow(failing("signature-refused"));
    await expect(asked).rejects.toMatchObject({ reason: "bad-signature" });
  });

  it("without any digest where what was signed is no such document", async () => {
    const signer = await createSigner({ algorithm: "ed25519" });
    const text = Buffer.from("signed\n");
    const signature = await signer.sign(text);
    const keys = [signer.armoredPublicKey];
    const claim = { subject, document: text, signature, keys, now } as const;
    const { sha256ByFilename } = await verifySignedChecksums(
      { ...claim, profile: "terraform" },
      decideSignature,
    );
    expect(sha256ByFilename.size).toBe(0);
  });

  it.each(["signatures-off", "unsigned-when-published"] as const)(
    "without a signature only with the exemption %s, which is kept",
    (exemption) => {
      const checksums = acceptUnsignedChecksums(subject, document, exemption);
      expect(checksums).toMatchObject({
        release,
        signedBy: undefined,
        signedAt: undefined,
        exemption,
      });
      expect(findTrustedDigest(checksums, name)).toBe(a);
    },
  );
});

describe("of what was signed", () => {
  const checksums = acceptUnsignedChecksums(
    subject,
    document,
    "signatures-off",
  );
  it("an archive that it does not name has no digest", () => {
    expect(() => findTrustedDigest(checksums, other)).toThrow(
      failing("archive-not-signed"),
    );
  });

  it("a registry that names another digest is contradicted", () => {
    const trusted = findTrustedDigest(checksums, name);
    expect(() => {
      verifyRegistryDigest(name, trusted, parseSha256(b));
    }).toThrow(failing("checksum-conflict"));
    expect(() => {
      verifyRegistryDigest(name, trusted, parseSha256(a.toUpperCase()));
    }).not.toThrow();
  });
});
