import { X509Certificate } from "node:crypto";
import { isIP } from "node:net";
import { isFailure } from "../../errors/index.ts";
import { fail, failBy, good, warn, type Check } from "./check.ts";

/**
 * Milliseconds before the end of a certificate from which on the check warns.
 */
const renewal = 14 * 24 * 60 * 60 * 1000;

/** The operator's own certificate, which `load` reads with its key; `names` is what clients call the mirror. */
export async function examineCertificate(
  load: () => Promise<{ readonly certificate: string }>,
  names: readonly string[],
  now: Date,
): Promise<readonly Check[]> {
  try {
    const { certificate } = await load();
    const parsed = new X509Certificate(certificate);
    const missing = names.filter((name) => !isFor(parsed, name));
    const unnamed = missing.map((name) =>
      fail(
        "certificate-name",
        `The certificate is not for ${name}, which "listen.names" has: it names ${parsed.subjectAltName ?? "nothing"}.`,
        `Get one that names ${name}, too.`,
      ),
    );
    return [judgeExpiry(parsed.validToDate, now), ...unnamed];
  } catch (error) {
    if (!isFailure(error, "configuration")) throw error;
    return [failBy("certificate", error)];
  }
}

export function judgeExpiry(expires: Date, now: Date): Check {
  const until = `The certificate is good until ${expires.toISOString()}.`;
  return expires.getTime() - now.getTime() < renewal
    ? warn("certificate", until, "Renew it before then.")
    : good("certificate", until);
}

function isFor(certificate: X509Certificate, name: string): boolean {
  const found =
    isIP(name) === 0 ? certificate.checkHost(name) : certificate.checkIP(name);
  return found !== undefined;
}
