import { expect, it } from "vitest";
import { parseVersionConstraint } from "../../src/address/version-constraint.ts";
import { configurationSchema } from "../../src/config/schema.ts";

const schema = configurationSchema("/etc/provender", {
  env: {},
  cwd: "/",
  home: "/home/someone",
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
  expect(schema.parse({ policy: { minimumAge: "3d", rules } }).policy).toEqual({
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
  expect(schema.parse({ trust: { newKeys: "refuse", keys } }).trust).toEqual({
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
  const { auth } = schema.parse({
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
