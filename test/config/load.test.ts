import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { parseVersionConstraint } from "../../src/address/version-constraint.ts";
import { load, temporaryFolder } from "./written.ts";

/** JSON is YAML. */
const loadValue = (value: object) => load(JSON.stringify(value));

describe("the configuration", () => {
  // config.example.yaml has the other defaults.
  it("has the two public registries when the file is empty", () => {
    expect(
      Array.from(load("").origins, ([name, { signatures }]) => [
        name,
        signatures,
      ]),
    ).toEqual([
      ["registry.terraform.io", "required"],
      ["registry.opentofu.org", "when-published"],
    ]);
  });

  it("takes a key without a value, or a file of comments, as not written", () => {
    const defaults = { ...load(""), source: expect.any(String) as string };
    const emptied = load(
      "listen:\nstorage:\n  directory:\nlimits:\n  archive:\n",
    );
    expect(emptied).toMatchObject(defaults);
    expect(load("# nothing\n")).toMatchObject(defaults);
  });

  it("has what is written, as numbers of bytes and milliseconds", () => {
    const configuration = load(
      [
        "listen: { host: '::', port: 0, tls: off }",
        "freshness: { versions: 0, staleFor: 1h }",
        "offline: true",
        "limits: { archive: 512MiB, connections: 5 }",
        "log: { level: debug }",
      ].join("\n"),
    );
    expect(configuration).toMatchObject({
      listen: { host: "::", port: 0, tls: { kind: "off" } },
      freshness: { versions: 0, staleFor: 3_600_000 },
      offline: true,
      limits: { archive: 2 ** 29, connections: 5 },
      log: { level: "debug" },
    });
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

  it("allows aliases, which stand for what they name", () => {
    const { freshness } = load(
      "freshness: { versions: &short 10s, staleFor: *short }",
    );
    expect(freshness).toMatchObject({ versions: 10_000, staleFor: 10_000 });
  });
});

it("parses rules with patterns, constraints and ages", () => {
  const rules = [
    { match: "registry.terraform.io/hashicorp/*", action: "allow" },
    {
      match: "*.example.com/*/*",
      action: "deny",
      versions: ">= 3.0, < 4",
      minimumAge: "7d",
    },
  ];
  expect(loadValue({ policy: { minimumAge: "3d", rules } }).policy).toEqual({
    mode: "enforce",
    default: "allow",
    minimumAge: 259_200_000,
    rules: [
      rules[0],
      {
        ...rules[1],
        versions: parseVersionConstraint(">= 3.0, < 4"),
        minimumAge: 604_800_000,
      },
    ],
  });
});

it("parses pinned keys as upper-case fingerprints of either length", () => {
  const keys = [
    {
      match: "registry.terraform.io/hashicorp/aws",
      fingerprints: [
        "c874011f0ab405110d02105534365d9472d7468f",
        "A".repeat(64),
      ],
    },
  ];
  expect(loadValue({ trust: { newKeys: "refuse", keys } }).trust).toEqual({
    newKeys: "refuse",
    keys: [
      {
        match: "registry.terraform.io/hashicorp/aws",
        fingerprints: [
          "C874011F0AB405110D02105534365D9472D7468F",
          "A".repeat(64),
        ],
      },
    ],
  });
});

it("parses client tokens, whose dates are moments in UTC, and the identity provider", () => {
  const sha256 = "AB".repeat(32);
  const { auth } = loadValue({
    auth: {
      tokens: [
        { name: "ci", sha256, expires: "2027-01-31" },
        { name: "cd", sha256, expires: "2027-01-31T12:00:00+02:00" },
        { name: "old", sha256 },
      ],
      oidc: {
        issuer: "https://login.example.com/realm",
        audience: "provender",
        clientId: "p",
      },
    },
  });
  expect(auth.tokens.map(({ expires }) => expires)).toEqual([
    Date.UTC(2027, 0, 31),
    Date.UTC(2027, 0, 31, 10),
    undefined,
  ]);
  expect(auth.tokens[0]?.sha256).toBe("ab".repeat(32));
  expect(auth.oidc[0]?.issuer.href).toBe("https://login.example.com/realm/");
});
