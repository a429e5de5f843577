import { describe, expect, it } from "vitest";
import { formatModuleAddress } from "../../src/address/module-address.ts";
import { formatProviderAddress } from "../../src/address/provider-address.ts";
import {
  anyHost,
  formatTrustScope,
  parseProviderSpec,
  parseReleaseSpec,
  parseTrustScope,
  readEitherSpec,
  selectVersions,
  type SpecHosts,
} from "../../src/address/spec.ts";
import { parseVersion } from "../../src/address/version.ts";
import { failing } from "../scenes/failing.ts";

const hosts = {
  configured: new Set([
    "registry.terraform.io",
    "registry.opentofu.org",
    "a.example:8443",
    "intranet",
    "xn--mnchen-3ya.example",
  ]),
  allowsOthers: false,
};
const tf = "registry.terraform.io";

function nameOf(spec: string, of: SpecHosts = hosts): string {
  const { chosen = "", ...named } = readEitherSpec(spec, of);
  const name =
    "module" in named
      ? formatModuleAddress(named.module)
      : formatProviderAddress(named.provider);
  return `${Object.keys(named).join(" ")} ${name} ${chosen}`.trim();
}

describe("a SPEC", () => {
  it.each([
    ["acme/net", `provider ${tf}/acme/net`],
    ["ACME/Net@~> 1.0", `provider ${tf}/acme/net ~> 1.0`],
    ["Registry.Terraform.IO/acme/net", `provider ${tf}/acme/net`],
    ["Intranet/Acme/NET", "provider intranet/acme/net"],
    ["A.Example:8443/acme/net", "provider a.example:8443/acme/net"],
    ["Acme/Net/aws@1.0.0", `module ${tf}/acme/net/aws 1.0.0`],
    [
      "M\u00dcNCHEN.example/acme/net",
      "provider xn--mnchen-3ya.example/acme/net",
    ],
    [
      "registry.opentofu.org:443/acme/net",
      "provider registry.opentofu.org/acme/net",
    ],
    ["intranet/acme/net/aws", "module intranet/acme/net/aws"],
  ])("%s names %s", (spec, expected) => {
    expect(nameOf(spec)).toBe(expected);
  });

  it.each([
    [
      "registry.terrafrom.io/acme/net",
      /"registry\.terrafrom\.io" .*: give registry\.terraform\.io,/,
    ],
    ["intrane/acme/net/aws", /"intrane" .*: give intranet,/],
    [
      "qwertyuiopasdfghjklz.example/acme/net",
      /give one of registry\.terraform\.io, /,
    ],
    ["a.example/acme/net", /"a\.example" is not a hostname/],
  ])("of a hostname without an origin names the nearest: %s", (spec, says) => {
    const message = expect.stringMatching(says) as string;
    const refusal = { code: "malformed-address", message };
    expect(() => nameOf(spec)).toThrow(expect.objectContaining(refusal));
  });

  it("names any hostname where stored things are meant", () => {
    const any = anyHost(hosts);
    const gone = "provider gone.example/acme/net";
    expect(nameOf("gone.example/acme/net", any)).toBe(gone);
    expect(nameOf("gone/acme/net/aws", any)).toBe("module gone/acme/net/aws");
  });

  it("without its default hostname among the origins has to name one", () => {
    const own = { ...hosts, configured: new Set(["a.example"]) };
    expect(() => nameOf("acme/net", own)).toThrow(/"registry\.terraform\.io"/);
  });
});

it.each([
  ["acme", `${tf}/acme`],
  ["acme/net", `${tf}/acme/net`],
  ["DataDog/Datadog@1.0.0", `${tf}/datadog/datadog@1.0.0`],
  ["intranet/acme", "intranet/acme"],
  ["a.example:8443/acme/net@1.0.0", "a.example:8443/acme/net@1.0.0"],
])("the scope %s is %s", (text, expected) => {
  expect(formatTrustScope(parseTrustScope(text, hosts))).toBe(expected);
});

it("a release is a provider with one version", () => {
  const { provider, version } = parseReleaseSpec("acme/net@1.2.0", hosts);
  expect(formatProviderAddress(provider)).toBe(`${tf}/acme/net`);
  expect(version).toBe("1.2.0");
  expect(() => parseReleaseSpec("acme/net", hosts)).toThrow(
    /give \[HOSTNAME\/\]NAMESPACE\/TYPE@VERSION/,
  );
});

const published = "1.0.0 2.0.0 10.0.0-rc1 1.9.0 1.10.0 0.9.0"
  .split(" ")
  .map(parseVersion);

it.each([
  ["hashicorp/null", "2.0.0"],
  ["hashicorp/null@latest:3", "2.0.0 1.10.0 1.9.0"],
  ["hashicorp/null@all", "2.0.0 1.10.0 1.9.0 1.0.0 0.9.0"],
  ["hashicorp/null@ latest:1 ", "2.0.0"],
  ["hashicorp/null@~> 1.0", "1.10.0 1.9.0 1.0.0"],
  ["hashicorp/null@ >= 1.0, != 1.9.0", "2.0.0 1.10.0 1.0.0"],
  ["hashicorp/null@10.0.0-rc1", "10.0.0-rc1"],
  ["hashicorp/null@3.0.0", ""],
])("%s selects, newest first: %s", (spec, expected) => {
  const { selection } = parseProviderSpec(spec, hosts);
  expect(selectVersions(selection, published).join(" ")).toBe(expected);
});

it.each<[string, (text: string, of: SpecHosts) => unknown, string[]]>([
  [
    "SPEC of a provider or module",
    nameOf,
    ["", "net", "intranet/acme", "a/b/c/d/e", "/acme/net", "acme//net"],
  ],
  [
    "SPEC of versions",
    parseProviderSpec,
    [
      ...["null", "@1.0", "a/null@", "a/null@latest", "a/null@latest:0"],
      ...["a/null@latest:1.5", "a/null@ALL", "a/null@all, 1.0", "a/null @1.0"],
    ],
  ],
  [
    "scope",
    parseTrustScope,
    [
      ...["", "acme-", "acme@1.0.0", "acme/net@", "acme/net@~> 1.0"],
      ...["acme/net/aws", "registry.terrafrom.io/acme", "a/b/c/d"],
    ],
  ],
])("refuses what is no %s", (_, parse, texts) => {
  for (const text of texts)
    expect(() => parse(text, hosts), text).toThrow(
      failing("malformed-address"),
    );
});
