import { expect, it } from "vitest";
import { effort } from "../effort.ts";
import fc from "../seeded.ts";
import { failing } from "../scenes/failing.ts";
import { parseChecksumsDocument } from "../../src/verification/checksums-document.ts";
import { hashBytes } from "../verification/archives/own-reading.ts";
import { executable, zipBytes } from "../verification/archives/zip-bytes.ts";

const tries = { numRuns: 500 * effort };
const options = { timeout: 120_000 * effort };

/** Texts near a grammar: a good one with a few characters taken out, put in or doubled. */
function nearly(good: fc.Arbitrary<string>): fc.Arbitrary<string> {
  const added = fc.oneof(
    fc.string({ maxLength: 3, unit: "binary" }),
    fc.constantFrom("", "/", "..", "%", "_", "-", ".", ":", "\0", "\r\n", " "),
  );
  const change = fc.record({ place: fc.nat(200), removed: fc.nat(2), added });
  return fc
    .tuple(good, fc.array(change, { maxLength: 3 }))
    .map(([text, changes]) =>
      changes.reduce((changed, { place, removed, added }) => {
        const at = place % (changed.length + 1);
        return changed.slice(0, at) + added + changed.slice(at + removed);
      }, text),
    );
}

/** Nothing of a document that is refused. */
function read(text: string) {
  const subject = { release: "acme/demo 1.0.0", isOwn: () => true };
  try {
    return parseChecksumsDocument(subject, Buffer.from(text));
  } catch (error) {
    expect(error).toEqual(failing("checksums-malformed"));
    return [];
  }
}

const digest = fc.stringMatching(/^[0-9a-fA-F]{64}$/);
const filename = fc.stringMatching(
  /^terraform-provider-[a-z]{1,8}_1\.0\.0_linux_amd64\.zip$/,
);

it(
  "a checksum document is refused, or each of its lines is a digest and a name that were there",
  options,
  () => {
    const line = fc
      .tuple(digest, fc.constantFrom(" ", "  ", "\t"), filename)
      .map((parts) => parts.join(""));
    const document = fc
      .tuple(fc.array(line, { maxLength: 5 }), fc.constantFrom("\n", "\r\n"))
      .map(([lines, end]) => lines.join(end));
    fc.assert(
      fc.property(nearly(document), (text) => {
        const lines = Buffer.from(text).toString("latin1").split("\n");
        const written = lines.map((one) => {
          const [, first = "", second] =
            /^[\t-\r ]*([^\t-\r ]*)[\t-\r ]+([^\t-\r ]+)/.exec(one) ?? [];
          return `${first.toLowerCase()} ${second}`;
        });
        for (const [name, sha256] of read(text)) {
          expect(sha256).toMatch(/^[0-9a-f]{64}$/);
          expect(name).toMatch(/^[^\t-\r ]+$/);
          expect(written).toContain(`${sha256} ${name}`);
        }
      }),
      tries,
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
    const zip = zipBytes(parts);
    const change = fc.tuple(
      fc.double({ min: 0, max: 1, maxExcluded: true, noNaN: true }),
      fc.integer({ min: 0, max: 255 }),
    );
    const ends = fc.constantFrom(0, 1, 22, 100);
    await fc.assert(
      fc.asyncProperty(
        fc.array(change, { minLength: 1, maxLength: 6 }),
        ends,
        async (changes, cut) => {
          const bytes = Buffer.from(zip.subarray(0, zip.length - cut));
          for (const [at, value] of changes)
            bytes[Math.floor(at * bytes.length)] = value;
          expect(await hashBytes(bytes)).toMatch(/^(?:h1|refused):/);
        },
      ),
      tries,
    );
  },
);
