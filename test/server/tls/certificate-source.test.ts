import "reflect-metadata";
import { KeyObject, X509Certificate } from "node:crypto";
import {
  chmod,
  mkdir,
  readdir,
  readFile,
  rm,
  stat,
  writeFile,
} from "node:fs/promises";
import * as x509 from "@peculiar/x509";
import { beforeEach, describe, expect, it } from "vitest";
import {
  certificateNames,
  loadSelfSigned,
} from "../../../src/server/tls/certificate-source.ts";
import { layOutStore } from "../../../src/store/layout.ts";
import { scratch } from "../../running-mirror.ts";
import { failing } from "../../scenes/failing.ts";

// Certificates count in whole seconds.
const now = new Date(Math.floor(Date.now() / 1000) * 1000);
const later = (days: number) => new Date(now.getTime() + days * 86_400_000);
const names = certificateNames("127.0.0.1", "mirror");

let { tls } = layOutStore(scratch("tls"));
beforeEach(() => void ({ tls } = layOutStore(scratch("tls"))));

const load = (given: readonly string[] = names, at = now) =>
  loadSelfSigned(tls, given, at);
const readPair = () =>
  Promise.all(
    [tls.authority, tls.certificate].map((path) =>
      readFile(path, "utf8").catch(() => undefined),
    ),
  );

/** What another start makes again, by the files before and after it. */
async function remake(given: readonly string[] = names, at = now) {
  const [authority, leaf] = await readPair();
  await load(given, at);
  const [newAuthority, newLeaf] = await readPair();
  if (authority !== newAuthority) return "ca-and-leaf";
  return leaf === newLeaf ? "nothing" : "leaf";
}

describe("the first start", () => {
  it("makes a CA that signs only leaves, for ten years, named after the machine in at most 64 characters", async () => {
    const machine = "m".repeat(63);
    const made = await load([machine]);
    expect(made.caFile).toBe(tls.authority);
    const pem = await readFile(tls.authority, "utf8");
    const ca = new X509Certificate(pem);
    expect(ca.subject).toBe(`CN=provender CA ${machine.slice(0, 64 - 13)}`);
    expect(ca.validToDate.getUTCFullYear() - now.getUTCFullYear()).toBe(10);
    expect(ca.publicKey.asymmetricKeyDetails?.namedCurve).toBe("prime256v1");
    const { extensions } = new x509.X509Certificate(pem);
    const { keyCertSign, cRLSign } = x509.KeyUsageFlags;
    for (const extension of [
      { ca: true, pathLength: 0, critical: true },
      { usages: keyCertSign | cRLSign, critical: true },
    ])
      expect(extensions).toContainEqual(expect.objectContaining(extension));
  });

  it("makes a certificate of at most 397 days for servers, with every name, that strict clients trace to the CA", async () => {
    const made = await load();
    const leaf = new X509Certificate(made.certificate);
    expect(leaf.validToDate).toEqual(later(396));
    expect(leaf.validFromDate).toEqual(later(-1));
    expect(made.expires).toEqual(leaf.validToDate);
    expect(leaf.keyUsage).toEqual(["1.3.6.1.5.5.7.3.1"]);
    expect(leaf.ca).toBe(false);
    expect(leaf.subjectAltName).toBe(
      "DNS:mirror, DNS:localhost, IP Address:127.0.0.1, IP Address:0:0:0:0:0:0:0:1",
    );
    const ca = new x509.X509Certificate(await readFile(tls.authority, "utf8"));
    const own = ca.getExtension(x509.SubjectKeyIdentifierExtension);
    const issuer = new x509.X509Certificate(made.certificate).getExtension(
      x509.AuthorityKeyIdentifierExtension,
    );
    expect(own?.keyId).toMatch(/^[\da-f]{40}$/);
    expect(issuer?.keyId).toBe(own?.keyId);
  });

  it("writes private keys that only their owner can read, and no leftovers", async () => {
    await load();
    for (const path of [tls.authorityKey, tls.key])
      expect((await stat(path)).mode & 0o777).toBe(0o600);
    expect((await stat(tls.directory)).mode & 0o777).toBe(0o700);
    expect((await readdir(tls.directory)).sort()).toEqual([
      ...["ca-key.pem", "ca.pem", "certificate.pem", "key.pem"],
    ]);
  });
});

it.each<[string, readonly string[], readonly string[], string, number]>([
  ["nothing the day after", names, names, "nothing", 1],
  ["nothing before the last 30 days", names, names, "nothing", 396 - 30],
  ["a certificate in its last 30 days", names, names, "leaf", 396 - 29],
  ["a CA in its last 30 days", names, names, "ca-and-leaf", 3651 - 29],
  ["a certificate from the future", names, names, "leaf", -100],
  ["one name less", names, names.slice(1), "leaf", 0],
  ["a changed name", names, ["other", ...names.slice(1)], "leaf", 0],
  ["an added IPv6 address", names, [...names, "fd00::12"], "leaf", 0],
  ["a wildcard", ["*.example.com"], ["a.example.com"], "leaf", 0],
])("a later start makes anew %s", async (_, before, given, made, days) => {
  const { key } = await load(before);
  expect(await remake(given, later(days))).toBe(made);
  expect(await remake(given, later(days))).toBe("nothing");
  const loaded = await load(given, later(days));
  const ca = new X509Certificate(await readFile(tls.authority));
  const leaf = new X509Certificate(loaded.certificate);
  expect(leaf.verify(ca.publicKey)).toBe(true);
  expect(loaded.key === key).toBe(made === "nothing");
});

type Harm = (made: Awaited<ReturnType<typeof load>>) => Promise<unknown>;

const harms: Readonly<Record<string, Harm>> = {
  ...Object.fromEntries(
    (["authority", "authorityKey", "certificate", "key"] as const).flatMap(
      (file): [string, Harm][] => {
        const made = file.startsWith("auth") ? "ca-and-leaf" : "leaf";
        return [
          [`${made}: damage of ${file}`, () => writeFile(tls[file], "-----")],
          [`${made}: loss of ${file}`, () => rm(tls[file])],
        ];
      },
    ),
  ),
  "leaf: a key of another certificate": async ({ key }) => {
    await load(["other"]);
    await load();
    await writeFile(tls.key, key);
  },
  "leaf: a pair of another CA": async ({ certificate, key }) => {
    await rm(tls.authority);
    await load();
    await writeFile(tls.certificate, certificate);
    await writeFile(tls.key, key);
  },
  "ca-and-leaf: a self-signed certificate that is no CA": async () => {
    const curve = { name: "ECDSA", namedCurve: "P-256" };
    const keys = await crypto.subtle.generateKey(curve, true, ["sign"]);
    const made = { keys, notAfter: later(100) };
    const own = await x509.X509CertificateGenerator.createSelfSigned(made);
    const key = KeyObject.from(keys.privateKey);
    const pem = key.export({ type: "pkcs8", format: "pem" });
    await writeFile(tls.authority, own.toString("pem"));
    await writeFile(tls.authorityKey, pem);
  },
};

it.each(Object.entries(harms))(
  "makes again, once, a %s",
  async (name, harm) => {
    await harm(await load());
    expect(await remake()).toBe(name.split(":")[0]);
    expect(await remake()).toBe("nothing");
  },
);

it("no new CA is the answer to a private key that everybody can read, or a file that cannot be read for another reason than absence", async () => {
  await load();
  const [ca] = await readPair();
  const key = await readFile(tls.authorityKey);
  await chmod(tls.authorityKey, 0o604);
  await expect(load()).rejects.toThrow(failing("configuration"));
  expect((await readPair())[0]).toBe(ca);
  await rm(tls.authority);
  await mkdir(tls.authority);
  await expect(load()).rejects.toThrow(failing("store-unusable"));
  expect(await readFile(tls.authorityKey)).toEqual(key);
});

const loopback = ["localhost", "127.0.0.1", "::1"];

const given = ["Mirror.Example.com.", "192.0.2.10", "FD00:0::1", "mirror"];

it.each<[string, string, string[], string[]?]>([
  ["127.0.0.1", "Mirror", ["mirror", ...loopback]],
  ["0.0.0.0", "mirror", ["mirror", ...loopback]],
  ["0:0:0:0:0:0:0:0", "mirror", ["mirror", ...loopback]],
  ["FD00:0:0::0012", "mirror", ["mirror", ...loopback, "fd00::12"]],
  ["fe80::1%eth0", "mirror", ["mirror", ...loopback, "fe80::1"]],
  ["mirror.example.com.", "m", ["m", ...loopback, "mirror.example.com"]],
  ["127.0.0.1", "build_host", ["build_host", ...loopback]],
  ["127.0.0.1", "a, DNS:b", loopback],
  ["127.0.0.1", "", loopback],
  [
    ...(["0.0.0.0", "mirror"] as const),
    ["mirror.example.com", "192.0.2.10", "fd00::1", "mirror", ...loopback],
    given,
  ],
])(
  "listening on %s, a machine called %j has %j, each once",
  (host, machine, names, given) => {
    expect(certificateNames(host, machine, given)).toEqual(names);
  },
);
