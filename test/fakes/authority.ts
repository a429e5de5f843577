import "reflect-metadata";
import { webcrypto } from "node:crypto";
import { isIP } from "node:net";
import * as x509 from "@peculiar/x509";

const { subtle } = webcrypto;
const signingAlgorithm = { name: "ECDSA", hash: "SHA-256" };
const notBefore = new Date("2020-01-01T00:00:00Z");
const never = new Date("2050-01-01T00:00:00Z");

const createKeys = () =>
  subtle.generateKey({ name: "ECDSA", namedCurve: "P-256" }, true, [
    ...(["sign", "verify"] as const),
  ]);

export type Authority = Awaited<ReturnType<typeof createAuthority>>;

/** A certificate authority that lives in memory; clients trust `caPem`. */
export async function createAuthority() {
  const own = await createKeys();
  const root = await x509.X509CertificateGenerator.createSelfSigned({
    ...{ notBefore, notAfter: never, name: "CN=Test Authority" },
    ...{ keys: own, signingAlgorithm },
    extensions: [
      new x509.BasicConstraintsExtension(true, 0, true),
      new x509.KeyUsagesExtension(x509.KeyUsageFlags.keyCertSign, true),
    ],
  });
  return {
    caPem: root.toString("pem"),
    /** A server certificate for DNS names and IP addresses, with its private key, both PEM. */
    issue: async (names: readonly string[], notAfter = never) => {
      const keys = await createKeys();
      const subjects = names.map((value) => ({
        type: isIP(value) === 0 ? ("dns" as const) : ("ip" as const),
        value,
      }));
      const certificate = await x509.X509CertificateGenerator.create({
        ...{ notBefore, notAfter, signingAlgorithm },
        ...{ issuer: root.subject, subject: "CN=Test Server" },
        ...{ publicKey: keys.publicKey, signingKey: own.privateKey },
        extensions: [
          new x509.BasicConstraintsExtension(false, undefined, true),
          new x509.KeyUsagesExtension(
            x509.KeyUsageFlags.digitalSignature,
            true,
          ),
          new x509.ExtendedKeyUsageExtension([
            x509.ExtendedKeyUsage.serverAuth,
          ]),
          new x509.SubjectAlternativeNameExtension(subjects),
        ],
      });
      const pkcs8 = await subtle.exportKey("pkcs8", keys.privateKey);
      return {
        certificate: certificate.toString("pem"),
        key: x509.PemConverter.encode(pkcs8, "PRIVATE KEY"),
      };
    },
  };
}
