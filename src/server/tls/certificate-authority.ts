import { createPrivateKey, KeyObject, type webcrypto } from "node:crypto";
import { isIP } from "node:net";
import type { X509Certificate } from "@peculiar/x509";

/** A certificate and its private key (PKCS #8), both as PEM. */
export interface CertificateAndKey {
  readonly certificate: string;
  readonly key: string;
}

const algorithm = { name: "ECDSA", namedCurve: "P-256" };
const day = 24 * 60 * 60 * 1000;
const authorityDays = 3652;
const certificateDays = 397;

/** A new root for this mirror alone: ECDSA P-256, ten years, and no CA below it. */
export async function makeAuthority(
  hostname: string,
  now: Date,
): Promise<CertificateAndKey> {
  const x509 = await loadX509();
  const keys = await makeKeys();
  const certificate = await x509.X509CertificateGenerator.createSelfSigned({
    name: [{ CN: [commonName(`provender CA ${hostname}`)] }],
    keys,
    ...validity(authorityDays, now),
    extensions: [
      new x509.BasicConstraintsExtension(true, 0, true),
      new x509.KeyUsagesExtension(
        x509.KeyUsageFlags.keyCertSign | x509.KeyUsageFlags.cRLSign,
        true,
      ),
      await x509.SubjectKeyIdentifierExtension.create(keys.publicKey),
    ],
  });
  return formatPair(certificate, keys.privateKey);
}

/** A new server certificate for `names` (host names and IP addresses), signed by `authority`. */
export async function issueCertificate(
  authority: CertificateAndKey,
  names: readonly string[],
  now: Date,
): Promise<CertificateAndKey> {
  const x509 = await loadX509();
  const keys = await makeKeys();
  const issuer = new x509.X509Certificate(authority.certificate);
  const certificate = await x509.X509CertificateGenerator.create({
    subject: [{ CN: [commonName(names[0] ?? "localhost")] }],
    issuer: issuer.subjectName,
    publicKey: keys.publicKey,
    signingKey: createPrivateKey(authority.key).toCryptoKey(algorithm, false, [
      "sign",
    ]),
    ...validity(certificateDays, now),
    extensions: [
      new x509.BasicConstraintsExtension(false, undefined, true),
      new x509.KeyUsagesExtension(x509.KeyUsageFlags.digitalSignature, true),
      new x509.ExtendedKeyUsageExtension([x509.ExtendedKeyUsage.serverAuth]),
      new x509.SubjectAlternativeNameExtension(names.map(alternativeName)),
      await x509.SubjectKeyIdentifierExtension.create(keys.publicKey),
      await x509.AuthorityKeyIdentifierExtension.create(issuer.publicKey),
    ],
  });
  return formatPair(certificate, keys.privateKey);
}

// Loaded on use, because most starts sign nothing; its tsyringe wants the Reflect polyfill first.
async function loadX509() {
  await import("reflect-metadata");
  return import("@peculiar/x509");
}

function makeKeys() {
  return crypto.subtle.generateKey(algorithm, true, ["sign", "verify"]);
}

function formatPair(
  certificate: X509Certificate,
  key: webcrypto.CryptoKey,
): CertificateAndKey {
  return {
    certificate: `${certificate.toString("pem")}\n`,
    key: KeyObject.from(key)
      .export({ type: "pkcs8", format: "pem" })
      .toString(),
  };
}

/** Cuts a common name to 64 characters (RFC 5280, ub-common-name). */
function commonName(text: string): string {
  return text.slice(0, 64);
}

function alternativeName(name: string) {
  return { type: isIP(name) ? "ip" : "dns", value: name } as const;
}

/**
 * Returns a validity of `days`; the first one is past already, for clients with
 * slow clocks.
 */
function validity(days: number, now: Date) {
  return {
    notBefore: new Date(now.getTime() - day),
    notAfter: new Date(now.getTime() + (days - 1) * day),
  };
}
