import { generateKeyPairSync } from "node:crypto";
import { chmod, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { beforeEach, expect, it } from "vitest";
import { scratch } from "../../running-mirror.ts";
import { failing } from "../../scenes/failing.ts";
import {
  issueCertificate,
  makeAuthority,
} from "../../../src/server/tls/certificate-source.ts";
import { loadCertificateFiles } from "../../../src/server/tls/certificate.ts";

const now = new Date("2026-03-01T00:00:00Z");
const day = 24 * 60 * 60 * 1000;

const directory = scratch("certificate");
const paths = {
  certificate: join(directory, "site.pem"),
  key: join(directory, "site.key"),
};
const authority = await makeAuthority("test", now);
const issued = await issueCertificate(authority, ["localhost"], now);
beforeEach(async () => {
  await rm(paths.key, { force: true });
  await give(issued.certificate + authority.certificate, issued.key);
});

async function give(certificate: string, key: string): Promise<void> {
  await writeFile(paths.certificate, certificate);
  await writeFile(paths.key, key, { mode: 0o600 });
}

async function refusal(at = now): Promise<string> {
  const error: unknown = await loadCertificateFiles(paths, at).catch(
    (reason: unknown) => reason,
  );
  expect(error).toEqual(failing("configuration"));
  return (error as Error).message;
}

it("reads a chain and its key as they are", async () => {
  const loaded = await loadCertificateFiles(paths, now);
  expect(loaded.certificate).toBe(issued.certificate + authority.certificate);
  expect(loaded.expires).toEqual(new Date(now.getTime() + 396 * day));
});

const { privateKey: locked } = generateKeyPairSync("ec", {
  namedCurve: "P-256",
  publicKeyEncoding: { type: "spki", format: "pem" },
  privateKeyEncoding: {
    ...{ type: "pkcs8", format: "pem" },
    ...{ cipher: "aes-256-cbc", passphrase: "secret" },
  },
});
const damaged = authority.certificate.replace(/\n[^-].{20}/, "\nAAAAAAAAAA");

const { certificate: own, key } = issued;
const other = authority;

it.each([
  ["nothing", "none", key, `${paths.certificate}: is not a certificate`],
  ["a key with a passphrase", own, locked, "give PEM without a passphrase"],
  [
    "a key of another certificate",
    own,
    other.key,
    `${paths.key}: this key does not belong to the first certificate in ${paths.certificate}`,
  ],
  [
    "a chain that does not start with the server's certificate",
    other.certificate + own,
    key,
    "give the server's own certificate first",
  ],
  [
    "a chain whose second certificate is damaged",
    `${own}\n${damaged}`,
    key,
    `${paths.certificate}: cannot be used for TLS`,
  ],
])("refuses %s", async (_, certificate, key, reason) => {
  await give(certificate, key);
  expect(await refusal()).toMatch(reason);
});

it("refuses a certificate that has expired or is not valid yet, a file that is missing, and a key that everybody can read", async () => {
  const at = (days: number) => new Date(now.getTime() + days * day);
  expect(await refusal(at(397))).toMatch(
    `${paths.certificate}: the certificate expired on 2027-04-01T00:00:00.000Z: renew it.`,
  );
  expect(await refusal(at(-2))).toMatch(
    "the certificate is valid from 2026-02-28T00:00:00.000Z on",
  );
  await chmod(paths.key, 0o640);
  await loadCertificateFiles(paths, now);
  await chmod(paths.key, 0o644);
  expect(await refusal()).toMatch(
    `${paths.key}: every user of this machine can read the private key`,
  );
  for (const path of [paths.key, paths.certificate]) {
    await rm(path);
    expect(await refusal()).toMatch(`${path}: cannot be read (ENOENT`);
  }
});
