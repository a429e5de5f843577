import { chmodSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { beforeEach, describe, expect, it } from "vitest";
import { stringify } from "yaml";
import {
  issueCertificate,
  makeAuthority,
} from "../../src/server/tls/certificate-source.ts";
import { runHere } from "../running-here.ts";
import { scratch } from "../running-mirror.ts";

const names = ["mirror.example.com"];

const folder = scratch("configured");
const [certificate, key, token, ca, file] = (
  ["site.pem", "site.key", "token", "ca.pem", "provender.yaml"] as const
).map((name) => join(folder, name)) as [string, string, string, string, string];

async function issue(at = new Date()) {
  const authority = await makeAuthority("test", at);
  const issued = await issueCertificate(authority, names, at);
  return { ...issued, ca: authority.certificate };
}

beforeEach(async () => {
  const issued = await issue();
  writeFileSync(certificate, issued.certificate);
  writeFileSync(key, issued.key);
  writeFileSync(token, "secret-of-the-origin\n");
  for (const secret of [key, token]) chmodSync(secret, 0o600);
  writeFileSync(ca, issued.ca);
  const [issuer, clientId] = ["https://login.example.com", "terraform"];
  const oidc = { issuer, audience: "provender", clientId, ca };
  const config = {
    listen: { tls: { certificate, key } },
    origins: { "registry.example.com": { ca, token: { file: token } } },
    auth: { oidc },
  };
  writeFileSync(file, stringify(config));
});

const check = () => runHere(["config", "--config", file]);

describe("provender config", () => {
  it("opens every file that is named, and says until when the certificate is good", async () => {
    const { status, stdout, stderr } = await check();
    expect(status).toBe(0);
    expect(stdout).toMatch(/^listen:$/m);
    expect(stderr).toMatch(
      /good\nServes .*\n\S+site\.pem: good until 20\d\d-\S+Z, with its key\n$/,
    );
  });

  it.each<[string, () => Promise<void> | void, RegExp]>([
    [
      "the key of another certificate",
      async () => writeFileSync(key, (await issue()).key),
      /"listen\.tls".*site\.key.*does not belong/,
    ],
    [
      "a token that others can read",
      () => chmodSync(token, 0o640),
      /:\d+: .*token.*others can read/,
    ],
  ])("refuses %s, and names the key and the file", async (_, harm, what) => {
    await harm();
    const { status, stdout, stderr } = await check();
    expect([status, stdout]).toEqual([2, ""]);
    expect(stderr).toMatch(what);
    expect(stderr).not.toContain("secret-of-the-origin");
  });
});
