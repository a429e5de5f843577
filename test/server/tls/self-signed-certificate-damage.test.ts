import { KeyObject } from "node:crypto";
import { chmod, mkdir, readFile, rm, writeFile } from "node:fs/promises";
import { dirname } from "node:path";
import { describe, expect, it } from "vitest";
import { failing } from "../../scenes/failing.ts";
import { makeAnew } from "./made-anew.ts";
import { loadSelfSigned } from "../../../src/server/tls/certificate-source.ts";

const now = new Date();
const names = ["mirror", "localhost", "127.0.0.1"];
const { paths, remake } = makeAnew();

describe("damage", () => {
  const nonsense =
    "-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n";

  it.each([
    ["authority", "ca-and-leaf"],
    ["authorityKey", "ca-and-leaf"],
    ["certificate", "leaf"],
    ["key", "leaf"],
  ] as const)("or loss of %s makes %s", async (file, made) => {
    await loadSelfSigned(paths(), names, now);
    await writeFile(paths()[file], nonsense);
    expect(await remake(names, now)).toBe(made);
    await rm(paths()[file]);
    expect(await remake(names, now)).toBe(made);
    expect(await remake(names, now)).toBe("nothing");
  });

  it("by a key of another certificate is seen", async () => {
    const first = await loadSelfSigned(paths(), names, now);
    await loadSelfSigned(paths(), ["other"], now);
    await writeFile(paths().key, first.key);
    expect(await remake(["other"], now)).toBe("leaf");
  });

  it("by a pair of another CA is seen", async () => {
    const first = await loadSelfSigned(paths(), names, now);
    await rm(paths().authority);
    await loadSelfSigned(paths(), names, now);
    await writeFile(paths().certificate, first.certificate);
    await writeFile(paths().key, first.key);
    expect(await remake(names, now)).toBe("leaf");
  });

  it("by a leaf in the CA's place is seen", async () => {
    const first = await loadSelfSigned(paths(), names, now);
    await writeFile(paths().authority, first.certificate);
    await writeFile(paths().authorityKey, first.key);
    expect(await remake(names, now)).toBe("ca-and-leaf");
  });
});

it("makes a new CA in place of a malformed self-signed certificate", async () => {
  await loadSelfSigned(paths(), names, now);
  const { X509CertificateGenerator } = await import("@peculiar/x509");
  const keys = await crypto.subtle.generateKey(
    { name: "ECDSA", namedCurve: "P-256" },
    true,
    ["sign", "verify"],
  );
  const none = await X509CertificateGenerator.createSelfSigned({
    keys,
    notAfter: new Date(now.getTime() + 1e10),
  });
  await writeFile(paths().authority, none.toString("pem"));
  const key = KeyObject.from(keys.privateKey);
  await writeFile(
    paths().authorityKey,
    key.export({ type: "pkcs8", format: "pem" }),
  );
  expect(await remake(names, now)).toBe("ca-and-leaf");
});

describe("what must not be answered with a new CA", () => {
  it("is a private key that everybody can read", async () => {
    await loadSelfSigned(paths(), names, now);
    const ca = await readFile(paths().authority);
    await chmod(paths().authorityKey, 0o604);
    await expect(loadSelfSigned(paths(), names, now)).rejects.toThrow(
      failing("configuration"),
    );
    expect(await readFile(paths().authority)).toEqual(ca);
  });

  it("is a file that cannot be read for another reason than absence", async () => {
    await loadSelfSigned(paths(), names, now);
    const key = await readFile(paths().authorityKey);
    await rm(paths().authority);
    await mkdir(paths().authority);
    await expect(loadSelfSigned(paths(), names, now)).rejects.toThrow(
      failing("store-unusable"),
    );
    expect(await readFile(paths().authorityKey)).toEqual(key);
  });

  it.skipIf(process.getuid?.() === 0)(
    "is a file without permission (skipped for root, who may read all)",
    async () => {
      await loadSelfSigned(paths(), names, now);
      await chmod(paths().authority, 0o000);
      await expect(loadSelfSigned(paths(), names, now)).rejects.toThrow(
        failing("store-unusable"),
      );
    },
  );

  it("is a storage directory that is a file", async () => {
    await writeFile(dirname(paths().directory), "");
    await expect(loadSelfSigned(paths(), names, now)).rejects.toThrow(
      failing("store-unusable"),
    );
  });
});
