import {
  fifteenPlatforms,
  filledWith,
  mostVersions,
  nested,
  versionsOf,
} from "../../scenes/large-documents.ts";

/** Which document of an origin it is. */
export type DocumentKind =
  "list" | "published" | "modules" | "discovery" | "package";

export const linux = { os: "linux", arch: "amd64" };

/** `TYPE` stands for the type of the provider. */
function packageWith(more: object): string {
  return JSON.stringify({
    ...linux,
    filename: "terraform-provider-TYPE_1.0.0_linux_amd64.zip",
    download_url: "archive",
    shasums_url: "sums",
    shasums_signature_url: "signature",
    shasum: "a".repeat(64),
    ...more,
  });
}

const armor = `-----BEGIN PGP PUBLIC KEY BLOCK-----\n\n${"A".repeat(8_000)}`;
const keys = (count: number, key: object) => ({
  signing_keys: { gpg_public_keys: Array(count).fill(key) },
});
/** Its shape is good, and the files that it names are not there. */
const refused = "404 not-found";
const unusable = "502 origin-answer";

/** Which document it is, what it says, and how the mirror answers, as a pattern. */
export const largeAnswers: Readonly<
  Record<string, readonly [DocumentKind, () => string, string]>
> = {
  "a flat object for a list": [
    "list",
    () => filledWith('"a":1', "{", "}"),
    unusable,
  ],
  "a flat array for a list": ["list", () => filledWith("1"), unusable],
  "nested arrays for a list": ["list", nested, unusable],
  "a list of one text": [
    "list",
    () => JSON.stringify("a".repeat(8_000_000)),
    unusable,
  ],
  "more versions than are taken, for 15 platforms": [
    "list",
    () => JSON.stringify(versionsOf(14_000)),
    unusable,
  ],
  "the longest list for 15 platforms": [
    "list",
    () => JSON.stringify(versionsOf(mostVersions)),
    "200",
  ],
  "the longest list, as registries tell it": [
    "published",
    () => JSON.stringify(versionsOf(mostVersions)),
    "200",
  ],
  "the longest list, with lists of platforms that differ": [
    "list",
    () =>
      JSON.stringify(
        versionsOf(mostVersions, (n) => ({
          platforms: Array.from({ length: 5 }, (_, i) => ({
            os: `os${(n + i) % 500}`,
            arch: "amd64",
          })),
        })),
      ),
    "200",
  ],
  "a list of versions for platforms that differ": [
    "list",
    () =>
      JSON.stringify(
        versionsOf(mostVersions, (n) => ({
          platforms: fifteenPlatforms.map((one) => ({ ...one, arch: `a${n}` })),
        })),
      ),
    unusable,
  ],
  "a list with a million protocols": [
    "list",
    () =>
      JSON.stringify(
        versionsOf(mostVersions, () => ({ protocols: Array(100).fill("5.0") })),
      ),
    unusable,
  ],
  "a list with long protocols": [
    "list",
    () =>
      JSON.stringify(versionsOf(100, () => ({ protocols: ["5".repeat(8e4)] }))),
    unusable,
  ],
  "a list of 8 MiB of warnings": [
    "list",
    () => filledWith('""', '{"versions":[],"warnings":[', "]}"),
    unusable,
  ],
  "a list of long warnings": [
    "list",
    () =>
      JSON.stringify({
        versions: [],
        warnings: Array(80).fill("a".repeat(1e5)),
      }),
    unusable,
  ],
  "the longest list of a module": [
    "modules",
    () => JSON.stringify({ modules: [versionsOf(mostVersions, () => ({}))] }),
    "200",
  ],
  "a flat list of a module": [
    "modules",
    () => filledWith('{"version":"1"}', '{"modules":[{"versions":[', "]}]}"),
    unusable,
  ],
  "a discovery document of many services": [
    "discovery",
    () => filledWith('"a":"b"', "{", "}"),
    unusable,
  ],
  "a discovery document of one long service": [
    "discovery",
    () => JSON.stringify({ "providers.v1": "/a".repeat(4e6) }),
    unusable,
  ],
  "nested arrays for a discovery document": ["discovery", nested, unusable],
  "a package with 1 000 keys": [
    "package",
    () => packageWith(keys(1_000, { ascii_armor: armor })),
    refused,
  ],
  "a package with 100 000 keys": [
    "package",
    () => packageWith(keys(100_000, { ascii_armor: "" })),
    unusable,
  ],
  "a package with long labels": [
    "package",
    () => packageWith(keys(4, { ascii_armor: "", source: "a".repeat(2e6) })),
    refused,
  ],
  "a package of 8 MB": [
    "package",
    () => packageWith({ other: "a".repeat(8e6) }),
    refused,
  ],
};
