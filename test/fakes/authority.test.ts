import { X509Certificate } from "node:crypto";
import { expect, it } from "vitest";
import { createAuthority } from "./authority.ts";

it("issues certificates that its authority has signed for the names asked for", async () => {
  const authority = await createAuthority();
  const issued = await authority.issue(["registry.example.com", "127.0.0.2"]);
  const certificate = new X509Certificate(issued.certificate);

  expect(
    certificate.verify(new X509Certificate(authority.caPem).publicKey),
  ).toBe(true);
  expect(certificate.checkHost("registry.example.com")).toBeDefined();
  expect(certificate.checkIP("127.0.0.2")).toBeDefined();
  expect(certificate.checkHost("other.example.com")).toBeUndefined();
});
