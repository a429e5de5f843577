import { expect, it } from "vitest";
import { parseSha256 } from "../../src/address/hash.ts";
import { parseFingerprint } from "../../src/verification/fingerprints.ts";
import { failing } from "../scenes/failing.ts";
import {
  acceptUnsignedChecksums,
  findTrustedDigest,
  verifyRegistryDigest,
  verifySignedChecksums,
} from "../../src/verification/signed-checksums.ts";
import type { SignatureDecision } from "../../src/verification/signatures.ts";

const release = "registry.example.com/acme/demo 1.0.0";
const prefix = "terraform-provider-demo_1.0.0_";
const name = `${prefix}linux_amd64.zip`;
const isOwn = (name: string) => name.startsWith(prefix);
const subject = { release, isOwn };
const [a, b] = ["a".repeat(64), "b".repeat(64)] as const;
const document = Buffer.from(`${a}  ${name}\n${b}  another-name\n`);

const asked = {
  ...{ document, signature: Buffer.of(1), keys: ["a key"] },
  ...{ profile: "terraform" as const, now: new Date() },
};
const signedBy = parseFingerprint("A".repeat(40));
const createdAt = new Date("2024-01-01T00:00:00Z");

it("a digest is trusted when the document that names it was signed, and what was decided is kept", async () => {
  const questions: unknown[] = [];
  const decide = (question: unknown): Promise<SignatureDecision> => {
    questions.push(question);
    return Promise.resolve({ accepted: true, createdAt, signedBy });
  };
  const sums = await verifySignedChecksums({ subject, ...asked }, decide);
  expect(questions).toEqual([asked]);
  const exemption = undefined;
  const kept = { release, signedAt: createdAt, exemption, signedBy };
  expect(sums).toMatchObject(kept);
  expect([...sums.sha256ByFilename]).toEqual([[name, a]]);
});

it("no digest is trusted when its signature was refused", async () => {
  const reason = "bad-signature" as const;
  const refused = { accepted: false, reason, detail: "" } as const;
  const sums = verifySignedChecksums({ subject, ...asked }, () =>
    Promise.resolve(refused),
  );
  await expect(sums).rejects.toThrow(failing("signature-refused"));
  await expect(sums).rejects.toMatchObject({ reason });
});

it("an unsigned digest is trusted with an exemption alone, which is kept", () => {
  for (const exemption of [
    "signatures-off",
    "unsigned-when-published",
  ] as const) {
    const sums = acceptUnsignedChecksums(subject, document, exemption);
    const unsigned = { signedBy: undefined, signedAt: undefined, exemption };
    expect(sums).toMatchObject({ release, ...unsigned });
    const trusted = findTrustedDigest(sums, name);
    expect(trusted).toBe(a);
    expect(() => findTrustedDigest(sums, "another-name")).toThrow(
      failing("archive-not-signed"),
    );
    verifyRegistryDigest(name, trusted, parseSha256(a.toUpperCase()));
    expect(() => {
      verifyRegistryDigest(name, trusted, parseSha256(b));
    }).toThrow(failing("checksum-conflict"));
  }
});
