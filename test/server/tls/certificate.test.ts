import { generateKeyPairSync } from "node:crypto";
import { chmod, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createSecureContext } from "node:tls";
import { afterAll, beforeEach, expect, it } from "vitest";
import { failing } from "../../scenes/failing.ts";
import {
  issueCertificate,
  makeAuthority,
} from "../../../src/server/tls/certificate-source.ts";
import {
  loadCertificateFiles,
  renewalDue,
} from "../../../src/server/tls/certificate.ts";

const now = new Date("2026-03-01T00:00:00Z");
const day = 24 * 60 * 60 * 1000;

const directory = await mkdtemp(join(tmpdir(), "provender-certificate-"));
const paths = {
  certificate: join(directory, "site.pem"),
  key: join(directory, "site.key"),
};
const authority = await makeAuthority("test", now);
const issued = await issueCertificate(authority, ["localhost"], now);
afterAll(() => rm(directory, { recursive: true, force: true }));
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
  createSecureContext({ cert: loaded.certificate, key: loaded.key });
});

it("says which file is missing", async () => {
  await rm(paths.key);
  expect(await refusal()).toMatch(`${paths.key}: cannot be read (ENOENT`);
  await rm(paths.certificate);
  expect(await refusal()).toMatch(
    `${paths.certificate}: cannot be read (ENOENT`,
  );
});

it("says which file is not what it should be", async () => {
  await give(issued.certificate, "no key");
  expect(await refusal()).toMatch(`${paths.key}: is not a private key`);
  await give("no certificate", issued.key);
  expect(await refusal()).toMatch(`${paths.certificate}: is not a certificate`);
});

it("refuses a key with a passphrase", async () => {
  const { privateKey } = generateKeyPairSync("ec", {
    namedCurve: "P-256",
    publicKeyEncoding: { type: "spki", format: "pem" },
    privateKeyEncoding: {
      type: "pkcs8",
      format: "pem",
      cipher: "aes-256-cbc",
      passphrase: "secret",
    },
  });
  await give(issued.certificate, privateKey);
  expect(await refusal()).toMatch("give PEM without a passphrase");
});

it("refuses a key of another certificate", async () => {
  await give(issued.certificate, authority.key);
  expect(await refusal()).toMatch(
    `${paths.key}: this key does not belong to the first certificate in ${paths.certificate}`,
  );
});

it("refuses a chain that does not start with the server's certificate", async () => {
  await give(authority.certificate + issued.certificate, issued.key);
  expect(await refusal()).toMatch("give the server's own certificate first");
});

it("refuses a chain whose second certificate is damaged", async () => {
  const damaged = authority.certificate.replace(/\n[^-].{20}/, "\nAAAAAAAAAA");
  await give(`${issued.certificate}\n${damaged}`, issued.key);
  expect(await refusal()).toMatch(
    `${paths.certificate}: cannot be used for TLS`,
  );
});

it("refuses a certificate that has expired", async () => {
  expect(await refusal(new Date(now.getTime() + 397 * day))).toMatch(
    `${paths.certificate}: the certificate expired on 2027-04-01T00:00:00.000Z: renew it.`,
  );
});

it("refuses a certificate that is not valid yet", async () => {
  expect(await refusal(new Date(now.getTime() - 2 * day))).toMatch(
    "the certificate is valid from 2026-02-28T00:00:00.000Z on",
  );
});

it("refuses a key that everybody can read, and takes one for a group", async () => {
  await chmod(paths.key, 0o644);
  expect(await refusal()).toMatch(
    `${paths.key}: every user of this machine can read the private key`,
  );
  await chmod(paths.key, 0o640);
  await loadCertificateFiles(paths, now);
});

it("calls for renewal when fewer than 30 days remain", () => {
  const before = (ms: number) => new Date(now.getTime() + ms);
  expect(renewalDue(before(30 * day), now)).toBe(false);
  expect(renewalDue(before(30 * day - 1), now)).toBe(true);
  expect(renewalDue(before(-day), now)).toBe(true);
});
