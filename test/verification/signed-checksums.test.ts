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

const signer = await createSigner({ algorithm: "ed25519" });
const profile = "terraform" as const;

/** Asks whether what was signed vouches for a document. */
async function verify(
  signed: Buffer,
  claimed = signed,
  decide: (asked: SignatureQuestion) => Promise<SignatureDecision> = (asked) =>
    decideSignature(asked),
) {
  const signature = await signer.sign(signed);
  const keys = [signer.armoredPublicKey];
  const asked = { document: claimed, signature, keys, profile, now };
  return { asked, sums: verifySignedChecksums({ subject, ...asked }, decide) };
}

describe("a digest is trusted", () => {
  it("when the document that names it was signed, and who and when is kept", async () => {
    const questions: SignatureQuestion[] = [];
    const { asked, sums } = await verify(document, document, (question) => {
      questions.push(question);
      return decideSignature(question);
    });
    const checksums = await sums;
    expect(questions).toEqual([asked]);
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
    const accepted = { accepted: true, signedBy: "K" as never } as const;
    const decision = { ...accepted, createdAt: now, warning: "old" };
    const { sums } = await verify(document, document, () =>
      Promise.resolve(decision),
    );
    expect(await sums).toMatchObject({ signedBy: "K", warning: "old" });
  });

  it("not when the signature is over something else", async () => {
    const { sums } = await verify(Buffer.from(`${b}  ${name}\n`), document);
    await expect(sums).rejects.toThrow(failing("signature-refused"));
    await expect(sums).rejects.toMatchObject({ reason: "bad-signature" });
  });

  it("without any digest where what was signed is no such document", async () => {
    const { sums } = await verify(Buffer.from("signed\n"));
    expect((await sums).sha256ByFilename.size).toBe(0);
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
