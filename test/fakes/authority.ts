import "reflect-metadata";
import { webcrypto } from "node:crypto";
import { isIP } from "node:net";
import * as x509 from "@peculiar/x509";

const algorithm = { name: "ECDSA", namedCurve: "P-256" } as const;
const signingAlgorithm = { name: "ECDSA", hash: "SHA-256" } as const;
const validity = {
  notBefore: new Date("2020-01-01T00:00:00Z"),
  notAfter: new Date("2050-01-01T00:00:00Z"),
};

/** A leaf certificate and its private key, both PEM. */
export interface IssuedCertificate {
  readonly certificate: string;
  readonly key: string;
}

/** A certificate authority that lives in memory; clients trust `caPem`. */
export interface Authority {
  readonly caPem: string;
  /** A server certificate for DNS names and IP addresses. */
  issue(names: readonly string[], notAfter?: Date): Promise<IssuedCertificate>;
}

export async function createAuthority(): Promise<Authority> {
  const keys = await createKeys();
  const name = "CN=Test Authority";
  const certificate = await x509.X509CertificateGenerator.createSelfSigned({
    ...validity,
    name,
    keys,
    signingAlgorithm,
    extensions: [
      new x509.BasicConstraintsExtension(true, 0, true),
      new x509.KeyUsagesExtension(x509.KeyUsageFlags.keyCertSign, true),
    ],
  });
  return {
    caPem: certificate.toString("pem"),
    issue: (names, notAfter = validity.notAfter) =>
      issue(certificate.subject, keys.privateKey, names, notAfter),
  };
}

async function issue(
  issuer: string,
  signingKey: webcrypto.CryptoKey,
  names: readonly string[],
  notAfter: Date,
): Promise<IssuedCertificate> {
  const keys = await createKeys();
  const certificate = await x509.X509CertificateGenerator.create({
    ...validity,
    notAfter,
    issuer,
    subject: "CN=Test Server",
    publicKey: keys.publicKey,
    signingKey,
    signingAlgorithm,
    extensions: [
      new x509.BasicConstraintsExtension(false, undefined, true),
      new x509.KeyUsagesExtension(x509.KeyUsageFlags.digitalSignature, true),
      new x509.ExtendedKeyUsageExtension([x509.ExtendedKeyUsage.serverAuth]),
      new x509.SubjectAlternativeNameExtension(names.map(alternativeName)),
    ],
  });
  const pkcs8 = await webcrypto.subtle.exportKey("pkcs8", keys.privateKey);
  return {
    certificate: certificate.toString("pem"),
    key: x509.PemConverter.encode(pkcs8, "PRIVATE KEY"),
  };
}

function createKeys(): Promise<webcrypto.CryptoKeyPair> {
  return webcrypto.subtle.generateKey(algorithm, true, ["sign", "verify"]);
}

function alternativeName(name: string): x509.JsonGeneralName {
  return { type: isIP(name) === 0 ? "dns" : "ip", value: name };
}
