import { createPrivateKey, X509Certificate } from "node:crypto";
import { readFile, stat } from "node:fs/promises";
import { createSecureContext } from "node:tls";
import { failure } from "../../errors/index.ts";

/** A certificate and its private key (PKCS #8), both as PEM; or their paths. */
export interface CertificateAndKey {
  readonly certificate: string;
  readonly key: string;
}

/** Those of a TLS server, and the end of the first certificate. */
export interface ServerCertificate extends CertificateAndKey {
  readonly expires: Date;
}

/**
 * The operator's own PEM files: `certificate` starts with the server's certificate, its intermediates follow; `key`
 * is not encrypted.
 */
export async function loadCertificateFiles(
  paths: CertificateAndKey,
  now: Date,
): Promise<ServerCertificate> {
  await refuseKeyOfEverybody(paths.key);
  const asked = "check the path and its permissions";
  const read = (path: string) =>
    attempt(() => readFile(path, "utf8"), path, "cannot be read", asked);
  const certificate = await read(paths.certificate);
  const key = await read(paths.key);
  const parsed = await attempt(
    () => new X509Certificate(certificate),
    paths.certificate,
    "is not a certificate",
    "give PEM that starts with -----BEGIN CERTIFICATE-----",
  );
  const own = await attempt(
    () => createPrivateKey(key),
    paths.key,
    "is not a private key",
    "give PEM without a passphrase",
  );
  if (!parsed.checkPrivateKey(own))
    throw failure(
      "configuration",
      paths.key,
      `this key does not belong to the first certificate in ${paths.certificate}`,
      "give the server's own certificate first, and its key",
    );
  if (parsed.validToDate < now)
    throw failure(
      "configuration",
      paths.certificate,
      `the certificate expired on ${parsed.validToDate.toISOString()}`,
      "renew it",
    );
  if (parsed.validFromDate > now)
    throw failure(
      "configuration",
      paths.certificate,
      `the certificate is valid from ${parsed.validFromDate.toISOString()} on`,
      "check it and this machine's clock",
    );
  await attempt(
    () => createSecureContext({ cert: certificate, key }),
    paths.certificate,
    "cannot be used for TLS",
    "check every certificate in it",
  );
  return { certificate, key, expires: parsed.validToDate };
}

export async function refuseKeyOfEverybody(path: string): Promise<void> {
  const found = await stat(path).catch(() => undefined);
  if (found && (found.mode & 0o007) !== 0)
    throw failure(
      "configuration",
      path,
      "every user of this machine can read the private key",
      "replace the key if it may have leaked, and chmod it to 600",
    );
}

async function attempt<T>(
  make: () => T | Promise<T>,
  path: string,
  problem: string,
  remedy: string,
): Promise<T> {
  try {
    return await make();
  } catch (cause) {
    const words = `${problem} (${(cause as Error).message})`;
    throw failure("configuration", path, words, remedy, { cause });
  }
}
