import {
  createPrivateKey,
  randomUUID,
  X509Certificate,
  type KeyObject,
} from "node:crypto";
import { mkdir, readFile } from "node:fs/promises";
import { isIP } from "node:net";
import { basename } from "node:path";
import { failure, ProvenderError } from "../../errors/index.ts";
import { writeDurably } from "../../store/durable-file.ts";
import type { StoreLayout } from "../../store/layout.ts";
import {
  issueCertificate,
  makeAuthority,
  type CertificateAndKey,
} from "./certificate-authority.ts";
import {
  refuseKeyOfEverybody,
  renewalDue,
  type ServerCertificate,
} from "./certificate.ts";

/**
 * Certificate with the reason for making it, `because`; after "ca-and-leaf"
 * clients need the new `caFile`.
 */
interface SelfSignedCertificate extends ServerCertificate {
  readonly caFile: string;
  readonly made: "ca-and-leaf" | "leaf" | "nothing";
  readonly because: string | undefined;
}

/**
 * Loads the stored CA and server certificate. Each is made again when it is
 * missing, damaged or about to expire, the latter also when `names` have
 * changed. The CA is named after the first name. Throws store-unusable, or
 * configuration for a private key that every user can read.
 */
export async function loadSelfSigned(
  paths: StoreLayout["tls"],
  names: readonly string[],
  now: Date,
): Promise<SelfSignedCertificate> {
  try {
    await mkdir(paths.directory, { recursive: true, mode: 0o700 });
    return await keepOrMakeBoth(paths, names, now);
  } catch (error) {
    if (error instanceof ProvenderError) throw error;
    throw failure("store-unusable", paths.directory, (error as Error).message, {
      cause: error,
    });
  }
}

async function keepOrMakeBoth(
  paths: StoreLayout["tls"],
  names: readonly string[],
  now: Date,
): Promise<SelfSignedCertificate> {
  const authority = await keepOrMake(
    { certificate: paths.authority, key: paths.authorityKey },
    (stored) => findAuthorityFault(stored, now),
    () => makeAuthority(names[0] ?? "localhost", now),
  );
  const issuer = new X509Certificate(authority.certificate);
  const leaf = await keepOrMake(
    paths,
    (stored) => findLeafFault(stored, issuer, names, now),
    () => issueCertificate(authority, names, now),
  );
  return {
    certificate: leaf.certificate,
    key: leaf.key,
    expires: new X509Certificate(leaf.certificate).validToDate,
    caFile: paths.authority,
    made:
      authority.because !== undefined
        ? "ca-and-leaf"
        : leaf.because !== undefined
          ? "leaf"
          : "nothing",
    because: authority.because ?? leaf.because,
  };
}

type PairPaths = Readonly<Record<keyof CertificateAndKey, string>>;

async function keepOrMake(
  paths: PairPaths,
  findFault: (stored: X509Certificate) => string | undefined,
  make: () => Promise<CertificateAndKey>,
): Promise<CertificateAndKey & { readonly because: string | undefined }> {
  const stored = await readPair(paths);
  const because =
    typeof stored === "string" ? stored : findFault(stored.parsed);
  if (typeof stored !== "string" && because === undefined)
    return { certificate: stored.certificate, key: stored.key, because };
  const made = await make();
  // A crash in between leaves a mismatched pair, which is made again.
  await write(paths.key, made.key);
  await write(paths.certificate, made.certificate);
  return { ...made, because };
}

/** The stored pair, or in words what is wrong with it; file system errors other than absence are thrown. */
async function readPair(
  paths: PairPaths,
): Promise<(CertificateAndKey & { parsed: X509Certificate }) | string> {
  const certificate = await readIfPresent(paths.certificate);
  if (certificate === undefined)
    return `${basename(paths.certificate)} is missing`;
  const key = await readIfPresent(paths.key);
  if (key === undefined) return `${basename(paths.key)} is missing`;
  await refuseKeyOfEverybody(paths.key);
  const parsed = parseOrNothing(() => new X509Certificate(certificate));
  if (parsed === undefined) return `${basename(paths.certificate)} is damaged`;
  const parsedKey = parseOrNothing(() => createPrivateKey(key));
  if (parsedKey === undefined) return `${basename(paths.key)} is damaged`;
  if (!isP256(parsedKey) || !parsed.checkPrivateKey(parsedKey))
    return `${basename(paths.key)} is not the key of ${basename(paths.certificate)}`;
  return { certificate, key, parsed };
}

// A CA from the future is kept: the clock may be wrong, and a new CA locks out every client.
function findAuthorityFault(
  stored: X509Certificate,
  now: Date,
): string | undefined {
  if (!stored.ca || !stored.verify(stored.publicKey))
    return "the stored CA is not a self-signed CA";
  if (renewalDue(stored.validToDate, now))
    return `the CA is valid until ${stored.validTo}`;
  return undefined;
}

function findLeafFault(
  stored: X509Certificate,
  authority: X509Certificate,
  names: readonly string[],
  now: Date,
): string | undefined {
  if (!stored.verify(authority.publicKey))
    return "the certificate is not of the stored CA";
  if (renewalDue(stored.validToDate, now))
    return `the certificate is valid until ${stored.validTo}`;
  if (stored.validFromDate > now)
    return `the certificate is valid only from ${stored.validFrom}`;
  return isFor(stored, names) ? undefined : "this machine's names have changed";
}

function isFor(stored: X509Certificate, names: readonly string[]): boolean {
  const held = stored.subjectAltName?.split(", ").length ?? 0;
  return (
    held === names.length &&
    names.every((name) =>
      isIP(name)
        ? stored.checkIP(name)
        : stored.checkHost(name, { subject: "never", wildcards: false }),
    )
  );
}

function isP256(key: KeyObject): boolean {
  return key.asymmetricKeyDetails?.namedCurve === "prime256v1";
}

function parseOrNothing<T>(parse: () => T): T | undefined {
  try {
    return parse();
  } catch {
    return undefined;
  }
}

async function readIfPresent(path: string): Promise<string | undefined> {
  try {
    return await readFile(path, "utf8");
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ENOENT") return undefined;
    throw error;
  }
}

function write(path: string, pem: string): Promise<void> {
  return writeDurably(`${path}.${randomUUID()}.tmp`, path, pem);
}
