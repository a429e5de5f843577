import { spawnSync } from "node:child_process";
import { X509Certificate } from "node:crypto";
import { once } from "node:events";
import { readdir, readFile, stat } from "node:fs/promises";
import { createServer, request } from "node:https";
import type { AddressInfo } from "node:net";
import type { TLSSocket } from "node:tls";
import { describe, expect, it } from "vitest";
import { makeAnew } from "./made-anew.ts";
import {
  certificateNames,
  loadSelfSigned,
} from "../../../src/server/tls/certificate-source.ts";

// Certificates count in whole seconds.
const now = new Date(Math.floor(Date.now() / 1000) * 1000);
const names = certificateNames("127.0.0.1", "mirror");
const hasOpenssl = spawnSync("openssl", ["version"]).status === 0;
const { paths, remake } = makeAnew();

function later(days: number): Date {
  return new Date(now.getTime() + days * 24 * 60 * 60 * 1000);
}

async function authority(): Promise<X509Certificate> {
  return new X509Certificate(await readFile(paths().authority));
}

describe("the first start", () => {
  it("makes a CA that signs only leaves, for ten years, named after the machine", async () => {
    const made = await loadSelfSigned(paths(), names, now);
    const ca = await authority();
    expect(made.caFile).toBe(paths().authority);
    expect(ca.subject).toBe("CN=provender CA mirror");
    expect(ca.ca).toBe(true);
    expect(ca.validToDate.getUTCFullYear() - now.getUTCFullYear()).toBe(10);
    expect(ca.publicKey.asymmetricKeyDetails?.namedCurve).toBe("prime256v1");
  });

  it("makes a certificate of at most 397 days for servers, with every name", async () => {
    const made = await loadSelfSigned(paths(), names, now);
    const leaf = new X509Certificate(made.certificate);
    const days =
      (leaf.validToDate.getTime() - leaf.validFromDate.getTime()) / 86_400_000;
    expect(days).toBeLessThanOrEqual(397);
    expect(leaf.keyUsage).toEqual(["1.3.6.1.5.5.7.3.1"]);
    expect(leaf.ca).toBe(false);
    expect(leaf.subjectAltName).toBe(
      "DNS:mirror, DNS:localhost, IP Address:127.0.0.1, IP Address:0:0:0:0:0:0:0:1",
    );
    expect(made.expires).toEqual(leaf.validToDate);
  });

  it("writes private keys that only their owner can read, and no leftovers", async () => {
    await loadSelfSigned(paths(), names, now);
    for (const path of [paths().authorityKey, paths().key])
      expect((await stat(path)).mode & 0o777).toBe(0o600);
    expect((await stat(paths().directory)).mode & 0o777).toBe(0o700);
    expect((await readdir(paths().directory)).sort()).toEqual([
      "ca-key.pem",
      "ca.pem",
      "certificate.pem",
      "key.pem",
    ]);
  });

  it("cuts the CA's name at 64 characters", async () => {
    await loadSelfSigned(paths(), ["m".repeat(63)], now);
    const { subject } = await authority();
    expect(subject).toBe(`CN=provender CA ${"m".repeat(64 - 13)}`);
  });
});

describe("a client that trusts only the CA", () => {
  it.each(["127.0.0.1", "localhost"])("connects to %s", async (host) => {
    expect(await connect(host)).toBe(true);
  });

  it("is refused by a name that the certificate is not for", async () => {
    await expect(connect("127.0.0.1", "elsewhere.example")).rejects.toThrow(
      /does not match certificate/,
    );
  });

  async function connect(host: string, servername = host): Promise<boolean> {
    const { certificate, key } = await loadSelfSigned(paths(), names, now);
    const server = createServer({ cert: certificate, key }, (_, answer) =>
      answer.end(),
    );
    server.listen(0, host);
    await once(server, "listening");
    try {
      const { port } = server.address() as AddressInfo;
      const ca = await readFile(paths().authority);
      const asked = request({
        host,
        port,
        ca,
        agent: false,
        ...(servername === host ? {} : { servername }),
      }).end();
      const [response] = (await once(asked, "response")) as [
        { socket: TLSSocket; resume(): void },
      ];
      response.resume();
      return response.socket.authorized;
    } finally {
      server.close();
      server.closeAllConnections();
    }
  }
});

describe.skipIf(!hasOpenssl)(
  hasOpenssl ? "openssl" : "openssl (NOT CHECKED: not installed)",
  () => {
    it("finds nothing wrong under its strict rules", async () => {
      await loadSelfSigned(paths(), names, now);
      const verified = spawnSync(
        "openssl",
        [
          "verify",
          "-x509_strict",
          "-check_ss_sig",
          "-purpose",
          "sslserver",
          "-verify_ip",
          "::1",
          "-CAfile",
          paths().authority,
          paths().certificate,
        ],
        { encoding: "utf8" },
      );
      expect(verified.stdout + verified.stderr).toBe(
        `${paths().certificate}: OK\n`,
      );
    });

    it("shows the extensions of the CA", async () => {
      await loadSelfSigned(paths(), names, now);
      const shown = spawnSync(
        "openssl",
        [
          "x509",
          "-in",
          paths().authority,
          "-noout",
          "-ext",
          "basicConstraints,keyUsage",
        ],
        { encoding: "utf8" },
      ).stdout;
      expect(shown.replaceAll(/\s+/g, " ").trim()).toBe(
        "X509v3 Basic Constraints: critical CA:TRUE, pathlen:0 X509v3 Key Usage: critical Certificate Sign, CRL Sign",
      );
    });
  },
);

describe("a later start", () => {
  it("keeps both as they are", async () => {
    const first = await loadSelfSigned(paths(), names, now);
    expect(await loadSelfSigned(paths(), names, later(1))).toEqual(first);
  });

  it("renews the certificate in its last 30 days and keeps the CA", async () => {
    const first = await loadSelfSigned(paths(), names, now);
    expect(await remake(names, later(396 - 30))).toBe("nothing");
    expect(await remake(names, later(396 - 29))).toBe("leaf");
    const renewed = await loadSelfSigned(paths(), names, later(396 - 29));
    expect(renewed.key).not.toBe(first.key);
    const leaf = new X509Certificate(renewed.certificate);
    expect(leaf.verify((await authority()).publicKey)).toBe(true);
  });

  it("makes a new CA before the old one ends", async () => {
    await loadSelfSigned(paths(), names, now);
    expect(await remake(names, later(3651 - 29))).toBe("ca-and-leaf");
  });

  it("keeps a CA from the future but not such a certificate", async () => {
    await loadSelfSigned(paths(), names, later(100));
    expect(await remake(names, now)).toBe("leaf");
    expect(await remake(names, now)).toBe("nothing");
  });

  it.each([
    ["another", [...names, "mirror.example.com"]],
    ["one less", names.slice(1)],
    ["a changed", ["other", ...names.slice(1)]],
    ["an added IPv6", [...names, "fd00::12"]],
  ])("makes a new certificate for %s name", async (_, changed) => {
    await loadSelfSigned(paths(), names, now);
    expect(await remake(changed, now)).toBe("leaf");
    expect(await remake(changed, now)).toBe("nothing");
  });

  it("does not take a wildcard for a name", async () => {
    await loadSelfSigned(paths(), ["*.example.com"], now);
    expect(await remake(["a.example.com"], now)).toBe("leaf");
  });
});
