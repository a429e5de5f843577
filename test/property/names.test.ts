import fc from "../seeded.ts";
import { expect, it } from "vitest";
import {
  parseArchiveName,
  formatArchiveName,
} from "../../src/address/archive-name.ts";
import {
  formatProviderAddress,
  parseProviderAddress,
} from "../../src/address/provider-address.ts";
import { formatPlatform, parsePlatform } from "../../src/address/platform.ts";
import { compareVersions, parseVersion } from "../../src/address/version.ts";
import { isFailure } from "../../src/errors/index.ts";
import { failing } from "../scenes/failing.ts";
import { parseByteRange } from "../../src/server/http/byte-range.ts";
import { holds, nearly, timeout } from "./holds.ts";

const options = { timeout };

/** The value, or undefined for what is refused in the parser's own words. */
function parsed<T>(parse: () => T): T | undefined {
  try {
    return parse();
  } catch (error) {
    expect(error).toEqual(failing("malformed-address"));
    expect((error as Error).message.length).toBeLessThan(1_000);
    return undefined;
  }
}

const part = fc.stringMatching(/^[a-z0-9][a-z0-9-]{0,20}[a-z0-9]$/);
const hostname = fc.stringMatching(
  /^[a-z0-9]{1,10}(?:\.[a-z0-9]{1,10}){1,3}(?::[1-9][0-9]{0,3})?$/,
);
const version = fc.stringMatching(
  /^(?:0|[1-9][0-9]{0,3})\.(?:0|[1-9][0-9]{0,3})\.(?:0|[1-9][0-9]{0,3})(?:-[a-z][a-z0-9]{0,5})?$/,
);

it(
  "a provider address is refused, or is three names that can do no harm in a path",
  options,
  async () => {
    const address = fc
      .tuple(hostname, part, part)
      .map((parts) => parts.join("/"));
    await holds(
      fc.property(nearly(address), (text) => {
        const provider = parsed(() => parseProviderAddress(text));
        if (provider === undefined) return;
        const { namespace, type } = provider;
        expect(namespace).toMatch(/^[a-z0-9]([a-z0-9_-]{0,62}[a-z0-9])?$/);
        expect(type).toMatch(/^[a-z0-9]([a-z0-9-]{0,62}[a-z0-9])?$/);
        expect(provider.hostname).toMatch(/^[a-z0-9.-]+(:[0-9]+)?$/);
        expect(provider.hostname).not.toMatch(/^\.|\.\.|\.$/);
        const formatted = formatProviderAddress(provider);
        expect(parseProviderAddress(formatted)).toEqual(provider);
      }),
    );
  },
);

it(
  "a version is refused, or is itself, of characters that can do no harm, and has its place in one order",
  options,
  async () => {
    await holds(
      fc.property(nearly(version), version, (text, other) => {
        const known = parsed(() => parseVersion(text));
        if (known === undefined) return;
        expect(known).toBe(text);
        expect(text).toMatch(/^[0-9A-Za-z.+-]{5,128}$/);
        const that = parseVersion(other);
        expect(compareVersions(known, known)).toBe(0);
        expect(Math.sign(compareVersions(known, that))).toBe(
          -Math.sign(compareVersions(that, known)) || 0,
        );
      }),
    );
  },
);

it(
  "an archive name is refused, or is the one name of its package",
  options,
  async () => {
    const provider = parseProviderAddress("acme/demo");
    const name = fc
      .tuple(version, fc.constantFrom("linux_amd64", "darwin_arm64"))
      .map(([of, on]) => `terraform-provider-demo_${of}_${on}.zip`);
    await holds(
      fc.property(nearly(name), (text) => {
        const found = parsed(() => parseArchiveName(provider, text));
        if (found === undefined) return;
        expect(formatArchiveName(provider, found.version, found.platform)).toBe(
          text,
        );
      }),
    );
  },
);

it("a platform is refused, or is itself", options, async () => {
  await holds(
    fc.property(
      nearly(fc.constantFrom("linux_amd64", "windows_386")),
      (text) => {
        const platform = parsed(() => parsePlatform(text));
        if (platform !== undefined) expect(formatPlatform(platform)).toBe(text);
      },
    ),
  );
});

it(
  "a byte range is left out, cannot be satisfied, or lies within the body",
  options,
  async () => {
    const bound = fc.oneof(
      fc.constant(""),
      fc.nat(2_000).map(String),
      fc.bigInt({ min: 0n }).map(String),
    );
    const header = fc
      .tuple(bound, bound)
      .map(([first, last]) => `bytes=${first}-${last}`);
    await holds(
      fc.property(nearly(header), fc.nat(1_500), (text, size) => {
        try {
          const range = parseByteRange(text, size, "a.zip");
          if (range === undefined) return;
          expect(range.start).toBeGreaterThanOrEqual(0);
          expect(range.start).toBeLessThan(range.end);
          expect(range.end).toBeLessThanOrEqual(size);
        } catch (error) {
          if (!isFailure(error, "range-not-satisfiable")) throw error;
        }
      }),
    );
  },
);
