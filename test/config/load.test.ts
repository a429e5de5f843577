import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { parsePattern } from "../../src/address/policy-pattern.ts";
import { parseVersionConstraint } from "../../src/address/version-constraint.ts";
import { load, temporaryFolder } from "./written.ts";

const day = 86_400_000;

describe("the configuration", () => {
  it("takes a key without a value, or a file of comments, as not written", () => {
    const defaults = { ...load(""), source: expect.any(String) as string };
    const emptied = load(
      "listen:\nstorage:\n  directory:\nlimits:\n  archive:\n",
    );
    expect(emptied).toMatchObject(defaults);
    expect(load("# nothing\n")).toMatchObject(defaults);
  });

  it("resolves relative paths against the folder of the file", () => {
    const folder = temporaryFolder();
    const { listen, storage } = load(
      "listen: { tls: { certificate: tls.crt, key: /keys/tls.key } }\nstorage: { directory: ../data }",
      {},
      folder,
    );
    expect(listen.tls).toEqual({
      kind: "files",
      certificate: join(folder, "tls.crt"),
      key: "/keys/tls.key",
    });
    expect(storage.directory).toBe(join(folder, "../data"));
  });

  it("has bytes and milliseconds, and what aliases stand for", () => {
    const { freshness, limits, listen, offline } = load(
      [
        "freshness: { versions: &short 10s, staleFor: *short }",
        "limits: { archive: 512MiB }",
        "listen: { port: 0, tls: off, trustedProxies: [10.0.0.0/8, 'fd00::/8', 'fe80::1%eth0'] }",
        "offline: true",
      ].join("\n"),
    );
    expect(freshness).toMatchObject({ versions: 10_000, staleFor: 10_000 });
    expect(limits.archive).toBe(2 ** 29);
    expect(listen).toMatchObject({
      ...{ port: 0, tls: { kind: "off" } },
      trustedProxies: ["10.0.0.0/8", "fd00::/8", "fe80::1%eth0"],
    });
    expect(offline).toBe(true);
  });
});

it("has rules, keys and tokens as they are compared", () => {
  const sha256 = "AB".repeat(32);
  const { policy, trust, auth } = load(`
policy:
  minimumAge: 3d
  rules: [{ match: "*.example.com/*/*", action: deny, versions: ">= 3.0, < 4", minimumAge: 7d }]
trust: { keys: [{ match: a.example/b/c, fingerprints: [${"ab".repeat(20)}, ${"A".repeat(64)}] }] }
auth:
  tokens:
    - { name: ci, sha256: ${sha256}, expires: 2027-01-31 }
    - { name: cd, sha256: ${sha256}, expires: "2027-01-31T12:00:00+02:00" }
    - { name: old, sha256: ${sha256} }
  oidc: { issuer: https://login.example.com/realm, audience: provender }
`);
  expect(policy).toMatchObject({ minimumAge: 3 * day });
  expect(policy.rules[0]).toEqual({
    ...{ action: "deny", minimumAge: 7 * day },
    match: parsePattern("*.example.com/*/*"),
    versions: parseVersionConstraint(">= 3.0, < 4"),
  });
  const [{ fingerprints } = {}] = trust.keys;
  expect(fingerprints).toEqual(["AB".repeat(20), "A".repeat(64)]);
  expect(auth.tokens.map(({ expires }) => expires)).toEqual([
    Date.UTC(2027, 0, 31),
    Date.UTC(2027, 0, 31, 10),
    undefined,
  ]);
  expect(auth.tokens[0]?.sha256).toBe("ab".repeat(32));
  expect(auth.oidc[0]?.issuer.href).toBe("https://login.example.com/realm/");
});
