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
  "nested arrays for a list": ["list", nested, unusable],
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
  "a list with long protocols": [
    "list",
    () =>
      JSON.stringify(versionsOf(100, () => ({ protocols: ["5".repeat(8e4)] }))),
    unusable,
  ],
  "the longest list of a module": [
    "modules",
    () => JSON.stringify({ modules: [versionsOf(mostVersions, () => ({}))] }),
    "200",
  ],
  "a discovery document of many services": [
    "discovery",
    () => filledWith('"a":"b"', "{", "}"),
    unusable,
  ],
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
};
