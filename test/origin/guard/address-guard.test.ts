import { promisify } from "node:util";
import { describe, expect, it } from "vitest";
import { failing } from "../../scenes/failing.ts";
import {
  checkUrl,
  guardedLookup,
  hostAndPort,
  isPublicAddress,
} from "../../../src/origin/guard/address-guard.ts";
import { allowed, refused } from "./addresses.ts";

const closed = {
  configured: new Set<string>(),
  allowPrivateAddresses: false,
};
const table = Object.entries(refused).flatMap(([kind, hosts]) =>
  hosts.map((host) => [host, kind] as const),
);

describe("the address guard", () => {
  it("has a table worth the name", () => {
    expect(table.length).toBeGreaterThan(60);
  });

  it.each(table)("refuses %s, which is %s", (host) => {
    const url = new URL(`https://${host}/path`);
    expect(() => checkUrl(url, closed)).toThrow(
      failing("origin-address-refused"),
    );
  });

  it.each(allowed)("lets %s pass", (host) => {
    checkUrl(new URL(`https://${host}/path`), closed);
  });

  it.each([
    "256.0.0.1",
    "127.0.0.0.1",
    "0x7f.0.0.0.1",
    "[::1",
    "[fe80::1%25eth0]",
    "1.2.3.4.5",
  ])("never sees %s, which is no URL", (host) => {
    expect(URL.parse(`https://${host}/`)).toBeNull();
  });

  it.each([
    ["http:", "http://registry.example.com/"],
    ["ftp:", "ftp://registry.example.com/"],
    ["file:", "file:///etc/passwd"],
    ["data:", "data:application/json,{}"],
    ["an odd port", "https://registry.example.com:8443/"],
    ["port 80", "https://registry.example.com:80/"],
    ["port 22", "https://registry.example.com:22/"],
  ])("refuses a URL with %s", (_, text) => {
    expect(() => checkUrl(new URL(text), closed)).toThrow(
      failing("origin-address-refused"),
    );
  });

  it("shows no user, password or query in what it refuses", () => {
    const url = new URL("https://user:hunter2@10.0.0.1/path?token=hunter2#x");
    expect(() => checkUrl(url, closed)).toThrow(
      /^https:\/\/10\.0\.0\.1\/path is not asked/,
    );
  });
});

describe("what the operator wrote", () => {
  const configured = {
    configured: new Set([hostAndPort(new URL("https://10.0.0.1:8443/"))]),
    allowPrivateAddresses: false,
  };

  it("is allowed for that host and port", () => {
    checkUrl(new URL("https://10.0.0.1:8443/any/path"), configured);
    checkUrl(new URL("https://0x0a000001:8443/any/path"), configured);
  });

  it.each([
    "https://10.0.0.1/",
    "https://10.0.0.1:8444/",
    "https://10.0.0.2:8443/",
    "http://10.0.0.1:8443/",
  ])("does not make %s allowed", (text) => {
    expect(() => checkUrl(new URL(text), configured)).toThrow(
      failing("origin-address-refused"),
    );
  });

  it("takes the port as 443 where none is written", () => {
    expect(hostAndPort(new URL("https://registry.internal/"))).toBe(
      "registry.internal:443",
    );
    expect(hostAndPort(new URL("https://registry.internal:443/"))).toBe(
      "registry.internal:443",
    );
  });

  it("lifts the rules on addresses with allowPrivateAddresses, but not https", () => {
    const open = { ...closed, allowPrivateAddresses: true };
    checkUrl(new URL("https://10.0.0.1:8443/"), open);
    expect(() => checkUrl(new URL("http://10.0.0.1/"), open)).toThrow(
      failing("origin-address-refused"),
    );
  });
});

describe("the guarded resolver", () => {
  const lookup = promisify(guardedLookup);

  it.each(["localhost", "127.0.0.1", "::1", "10.0.0.1", "::ffff:127.0.0.1"])(
    "fails for %s",
    async (name) => {
      await expect(lookup(name, { all: true })).rejects.toThrow(
        failing("origin-address-refused"),
      );
      await expect(lookup(name, {})).rejects.toThrow(
        failing("origin-address-refused"),
      );
    },
  );

  it("gives a public address in both forms", async () => {
    await expect(lookup("1.1.1.1", { all: true })).resolves.toEqual([
      { address: "1.1.1.1", family: 4 },
    ]);
    await expect(lookup("1.1.1.1", {})).resolves.toBe("1.1.1.1");
  });
});

describe("a public address", () => {
  it.each(["", "localhost", "1.1.1.1/24", "fe80::1%eth0", "::ffff:1.1.1.1"])(
    "is not %j",
    (text) => {
      expect(isPublicAddress(text)).toBe(false);
    },
  );
});
