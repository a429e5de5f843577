import fc from "../seeded.ts";
import { expect, it } from "vitest";
import { parsePlatform } from "../../src/address/platform.ts";
import type { ErrorCode } from "../../src/errors/index.ts";
import { providerAddress } from "../../src/address/provider-address.ts";
import { parseVersion } from "../../src/address/version.ts";
import { failing } from "../scenes/failing.ts";
import {
  bindPackage,
  parsePackageAnswer,
  parseVersions,
} from "../../src/origin/registries/registry-answers.ts";
import { parseChecksumsDocument } from "../../src/verification/checksums-document.ts";
import { executable, hashBytes } from "../verification/archives/hash-bytes.ts";
import { zipBytes } from "../verification/archives/zip-bytes.ts";
import { holds, nearly, timeout } from "./holds.ts";

const options = { timeout };
const url = new URL("https://registry.example.com/v1/providers/");

/** Runs; what it throws must have this code. */
function runs<T>(run: () => T, refusal: ErrorCode): T | undefined {
  try {
    return run();
  } catch (error) {
    expect(error).toEqual(failing(refusal));
    return undefined;
  }
}

const digest = fc.stringMatching(/^[0-9a-fA-F]{64}$/);
const filename = fc.stringMatching(
  /^terraform-provider-[a-z]{1,8}_1\.0\.0_linux_amd64\.zip$/,
);

it(
  "a checksum document is refused, or each of its lines is a digest and a name that were there",
  options,
  async () => {
    const line = fc.tuple(digest, fc.constantFrom(" ", "  ", "\t"), filename);
    const document = fc
      .array(
        line.map((parts) => parts.join("")),
        { maxLength: 5 },
      )
      .chain((lines) =>
        fc.constantFrom("\n", "\r\n").map((end) => lines.join(end)),
      );
    const subject = { release: "acme/demo 1.0.0", isOwn: () => true };
    await holds(
      fc.property(nearly(document), (text) => {
        const digests = runs(
          () => parseChecksumsDocument(subject, Buffer.from(text)),
          "checksums-malformed",
        );
        for (const [name, sha256] of digests ?? []) {
          expect(sha256).toMatch(/^[0-9a-f]{64}$/);
          expect(name).toMatch(/^[^\t-\r ]+$/);
          const lines = Buffer.from(text).toString("latin1").split("\n");
          const has = (one: string) => {
            const [first, second] = one
              .replace(/^[\t-\r ]+/, "")
              .split(/[\t-\r ]+/);
            return first?.toLowerCase() === sha256 && second === name;
          };
          expect(lines.some(has)).toBe(true);
        }
      }),
    );
  },
);

/** A document with some of its values, at any depth, replaced by anything. */
function distorted(document: unknown): fc.Arbitrary<unknown> {
  const anything = fc.oneof(
    fc.jsonValue(),
    fc.constantFrom("", "../x", "__proto__", -1, 1e308, null, [], {}),
  );
  return fc
    .array(fc.tuple(fc.nat(40), anything, fc.boolean()), { maxLength: 3 })
    .map((changes) =>
      changes.reduce(
        (text, [at, value, isKey]) => replaceOne(text, at, value, isKey),
        JSON.stringify(document),
      ),
    )
    .map((text) => JSON.parse(text) as unknown);
}

function replaceOne(
  text: string,
  at: number,
  value: unknown,
  isKey: boolean,
): string {
  let seen = 0;
  return JSON.stringify(
    JSON.parse(text, (_, old: unknown) => {
      if (seen++ !== at) return old;
      return isKey ? { __proto__x: value, constructor: old } : value;
    }),
  );
}

const versions = {
  id: "acme/demo",
  versions: ["1.0.0", "2.0.0-beta1"].map((version) => ({
    version,
    protocols: ["5.0"],
    platforms: [{ os: "linux", arch: "amd64" }],
  })),
  warnings: ["old"],
};

it(
  "a list of versions is refused, or has versions and platforms alone",
  options,
  async () => {
    await holds(
      fc.property(distorted(versions), (value) => {
        const list = runs(() => parseVersions(url, value, 10), "origin-answer");
        for (const { version, platforms } of list?.versions ?? []) {
          expect(version).toMatch(/^[0-9][0-9A-Za-z.+-]*$/);
          for (const { os, arch } of platforms ?? [])
            expect(`${os}_${arch}`).toMatch(/^[a-z0-9]+_[a-z0-9]+$/);
        }
      }),
    );
    expect(Object.prototype).not.toHaveProperty("x");
  },
);

const name = "terraform-provider-demo_1.0.0_linux_amd64.zip";
const found = {
  os: "linux",
  arch: "amd64",
  filename: name,
  download_url: `https://files.example.com/${name}`,
  shasum: "a".repeat(64),
  shasums_url: "../SHA256SUMS",
  shasums_signature_url: "SHA256SUMS.sig",
  protocols: ["5.0"],
  signing_keys: { gpg_public_keys: [{ key_id: "A", ascii_armor: "B" }] },
  packages: { linux_amd64: { hashes: ["zh:a", "h1:b"], package_size: 7 } },
};

it(
  "a package is refused, or is the one that was asked for",
  options,
  async () => {
    await holds(
      fc.property(distorted(found), (value) => {
        const platform = parsePlatform("linux_amd64");
        const read = runs(
          () =>
            bindPackage(
              url,
              parsePackageAnswer(url, value),
              providerAddress("registry.terraform.io", "acme", "demo"),
              parseVersion("1.0.0"),
              platform,
            ),
          "origin-answer",
        );
        if (read === undefined) return;
        expect(read.filename).toBe(name);
        expect(read.shasum).toMatch(/^[0-9a-f]{64}$/);
        expect(read.downloadUrl).toBeInstanceOf(URL);
        expect(read.signingKeys.every((key) => typeof key === "string")).toBe(
          true,
        );
      }),
    );
  },
);

it(
  "a zip with bytes changed is refused or hashed, in bounded time",
  options,
  async () => {
    const parts = [
      executable,
      { name: "LICENSE.txt", content: "Mozilla", deflate: true },
      { name: "docs/a.md", content: "x".repeat(400) },
    ];
    const whole = fc.constant(zipBytes(parts));
    const change = fc.tuple(
      fc.double({ min: 0, max: 1, maxExcluded: true, noNaN: true }),
      fc.integer({ min: 0, max: 255 }),
    );
    const ends = fc.constantFrom(0, 1, 22, 100);
    await holds(
      fc.asyncProperty(
        whole,
        fc.array(change, { minLength: 1, maxLength: 6 }),
        ends,
        async (zip, changes, cut) => {
          const bytes = Buffer.from(zip.subarray(0, zip.length - cut));
          for (const [at, value] of changes)
            bytes[Math.floor(at * bytes.length)] = value;
          const hashed = await hashBytes(bytes).catch((error: unknown) => {
            expect(error).toEqual(failing("archive-unhashable"));
            return "h1:refused";
          });
          expect(hashed).toMatch(/^h1:/);
        },
      ),
    );
  },
);
