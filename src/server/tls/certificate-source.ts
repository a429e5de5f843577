import {
  createPrivateKey,
  KeyObject,
  randomUUID,
  type webcrypto,
  X509Certificate,
} from "node:crypto";
import { mkdir, readFile } from "node:fs/promises";
import { isIP, isIPv6 } from "node:net";
import { basename } from "node:path";
import type { X509Certificate as IssuedCertificate } from "@peculiar/x509";
import { isCertificateName } from "../../address/hostname.ts";
import { failure, ProvenderError } from "../../errors/index.ts";
import { writeDurably } from "../../store/durable-file.ts";
import type { StoreLayout } from "../../store/layout.ts";
import {
  loadCertificateFiles,
  refuseKeyOfEverybody,
  renewalDue,
  type ServerCertificate,
} from "./certificate.ts";

/** Choice in `listen.tls`. */
export type TlsChoice =
  | { readonly kind: "self-signed" }
  | { readonly kind: "off" }
  | {
      readonly kind: "files";
      readonly certificate: string;
      readonly key: string;
    };

/** Loads the certificate again each time; undefined when TLS is off. `caFile` is set when clients do not know the CA. */
export type CertificateSource = (
  now: Date,
) => Promise<
  (ServerCertificate & { readonly caFile: string | undefined }) | undefined
>;

export function makeCertificateSource(
  {
    host,
    tls,
    names,
  }: {
    readonly host: string;
    readonly tls: TlsChoice;
    readonly names: readonly string[];
  },
  paths: StoreLayout["tls"],
  machineName: string,
): CertificateSource {
  switch (tls.kind) {
    case "off":
      return () => Promise.resolve(undefined);
    case "files":
      return async (now) => ({
        ...(await loadCertificateFiles(tls, now)),
        caFile: undefined,
      });
    case "self-signed":
      return (now) =>
        loadSelfSigned(paths, certificateNames(host, machineName, names), now);
  }
}

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
 * Loads the stored CA and server certificate. Each is made again when it is missing, damaged or about to expire, the
 * latter also when `names` have changed. The CA is named after the first name.
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
  certificate: IssuedCertificate,
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

const everyAddress = ["0.0.0.0", "::"];

/** True for the listen hosts that stand for all of a machine's addresses. */
export function isEveryAddress(listenHost: string): boolean {
  return everyAddress.includes(normalName(listenHost));
}

/**
 * Lists the names in a certificate: the configured ones, this machine,
 * loopback, and the address where it listens.
 */
export function certificateNames(
  listenHost: string,
  hostname: string,
  given: readonly string[] = [],
): readonly string[] {
  const own = [hostname, "localhost", "127.0.0.1", "::1", listenHost];
  const names = [...given, ...own]
    .map(normalName)
    .filter(isCertificateName)
    .filter((name) => !everyAddress.includes(name));
  return [...new Set(names)];
}

/** Lower case, IPv6 in its shortest form and without a zone, no dot at the end. */
function normalName(text: string): string {
  const [name = ""] = text.toLowerCase().split("%");
  return isIPv6(name)
    ? new URL(`https://[${name}]/`).hostname.slice(1, -1)
    : name.replace(/\.$/, "");
}
