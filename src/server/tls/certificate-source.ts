import {
  createPrivateKey,
  KeyObject,
  randomUUID,
  type webcrypto,
  X509Certificate,
} from "node:crypto";
import { mkdir, readFile } from "node:fs/promises";
import { isIP, isIPv6 } from "node:net";
import type { X509Certificate as IssuedCertificate } from "@peculiar/x509";
import { isCertificateName } from "../../address/hostname.ts";
import { failure, ProvenderError } from "../../errors/index.ts";
import { writeDurably } from "../../store/durable-file.ts";
import type { StoreLayout } from "../../store/layout.ts";
import {
  type CertificateAndKey,
  loadCertificateFiles,
  refuseKeyOfEverybody,
  type ServerCertificate,
} from "./certificate.ts";

export type TlsChoice =
  | { readonly kind: "self-signed" }
  | { readonly kind: "off" }
  | ({ readonly kind: "files" } & CertificateAndKey);

export type CertificateSource = ReturnType<typeof makeCertificateSource>;

/** Loads the certificate again each time; undefined when TLS is off. `caFile` is set when clients do not know the CA. */
export function makeCertificateSource(
  listen: { host: string; tls: TlsChoice; names: readonly string[] },
  paths: StoreLayout["tls"],
  machineName: string,
) {
  const { host, tls } = listen;
  const names = certificateNames(host, machineName, listen.names);
  return async (now: Date) => {
    if (tls.kind === "off") return undefined;
    if (tls.kind === "self-signed") return loadSelfSigned(paths, names, now);
    return { ...(await loadCertificateFiles(tls, now)), caFile: undefined };
  };
}

/**
 * Loads the stored CA and server certificate. Each is made again when it is missing, damaged or about to expire, the
 * latter also when `names` have changed. The CA is named after the first name; clients need `caFile` when it is new.
 */
export async function loadSelfSigned(
  paths: StoreLayout["tls"],
  names: readonly string[],
  now: Date,
): Promise<ServerCertificate & { readonly caFile: string }> {
  try {
    await mkdir(paths.directory, { recursive: true, mode: 0o700 });
    const authority = await keepOrMake(
      { certificate: paths.authority, key: paths.authorityKey },
      // One from the future is kept: the clock may be wrong, and a new CA locks out every client.
      (stored) =>
        stored.ca &&
        stored.verify(stored.publicKey) &&
        !renewalDue(stored.validToDate, now),
      () => makeAuthority(names[0] ?? "localhost", now),
    );
    const issuer = new X509Certificate(authority.certificate);
    const leaf = await keepOrMake(
      paths,
      (stored) =>
        stored.verify(issuer.publicKey) &&
        !renewalDue(stored.validToDate, now) &&
        stored.validFromDate <= now &&
        stored.subjectAltName?.split(", ").length === names.length &&
        names.every((name) =>
          isIP(name)
            ? stored.checkIP(name)
            : stored.checkHost(name, { subject: "never", wildcards: false }),
        ),
      () => issueCertificate(authority, names, now),
    );
    const expires = new X509Certificate(leaf.certificate).validToDate;
    return { ...leaf, expires, caFile: paths.authority };
  } catch (error) {
    if (error instanceof ProvenderError) throw error;
    throw failure("store-unusable", paths.directory, (error as Error).message, {
      cause: error,
    });
  }
}

/** True in the last 30 days of a certificate, and after them. */
function renewalDue(expires: Date, now: Date): boolean {
  return expires.getTime() - now.getTime() < 30 * day;
}

async function keepOrMake(
  paths: CertificateAndKey,
  isGood: (stored: X509Certificate) => boolean,
  make: () => Promise<CertificateAndKey>,
): Promise<CertificateAndKey> {
  const certificate = await readIfPresent(paths.certificate);
  const key = await readIfPresent(paths.key);
  if (certificate !== undefined && key !== undefined) {
    await refuseKeyOfEverybody(paths.key);
    try {
      const parsed = new X509Certificate(certificate);
      const own = createPrivateKey(key);
      if (
        own.asymmetricKeyDetails?.namedCurve === "prime256v1" &&
        parsed.checkPrivateKey(own) &&
        isGood(parsed)
      )
        return { certificate, key };
    } catch {
      // What cannot be parsed is made again.
    }
  }
  const made = await make();
  // A crash in between leaves a mismatched pair, which is made again.
  for (const part of ["key", "certificate"] as const) {
    const staged = `${paths[part]}.${randomUUID()}.tmp`;
    await writeDurably(staged, paths[part], made[part]);
  }
  return made;
}

async function readIfPresent(path: string): Promise<string | undefined> {
  try {
    return await readFile(path, "utf8");
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ENOENT") return undefined;
    throw error;
  }
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
  const { x509, keys } = await prepare();
  const certificate = await x509.X509CertificateGenerator.createSelfSigned({
    name: [{ CN: [`provender CA ${hostname}`.slice(0, longestName)] }],
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
  const { x509, keys } = await prepare();
  const issuer = new x509.X509Certificate(authority.certificate);
  const certificate = await x509.X509CertificateGenerator.create({
    subject: [{ CN: [names[0]?.slice(0, longestName) ?? "localhost"] }],
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
      new x509.SubjectAlternativeNameExtension(
        names.map((value) => ({ type: isIP(value) ? "ip" : "dns", value })),
      ),
      await x509.SubjectKeyIdentifierExtension.create(keys.publicKey),
      await x509.AuthorityKeyIdentifierExtension.create(issuer.publicKey),
    ],
  });
  return formatPair(certificate, keys.privateKey);
}

/** Loads the library on use, because most starts sign nothing; its tsyringe wants the Reflect polyfill first. */
async function prepare() {
  await import("reflect-metadata");
  const x509 = await import("@peculiar/x509");
  const usages = ["sign", "verify"] as const;
  const keys = await crypto.subtle.generateKey(algorithm, true, usages);
  return { x509, keys };
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

/** RFC 5280, ub-common-name. */
const longestName = 64;

/** The first of the days is past already, for clients with slow clocks. */
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
