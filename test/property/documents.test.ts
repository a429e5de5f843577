import { expect, it } from "vitest";
import { effort } from "../effort.ts";
import fc from "../seeded.ts";
import { failing } from "../scenes/failing.ts";
import { parseChecksumsDocument } from "../../src/verification/checksums-document.ts";
import { hashBytes } from "../verification/archives/own-reading.ts";
import { executable, zipBytes } from "../verification/archives/zip-bytes.ts";

const tries = { numRuns: 500 * effort };
const options = { timeout: 120_000 * effort };

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
const blank = fc.constantFrom(" ", "  ", "\t");
const filename = fc.stringMatching(
  /^terraform-provider-[a-z]{1,8}_1\.0\.0_linux_amd64\.zip$/,
);
const end = fc.constantFrom("\n", "\r\n");
const foreign = fc.oneof(
  fc.string({ maxLength: 3, unit: "binary" }),
  fc.constantFrom("/", "..", "%", "_", "*", "\0", "\r", "\u00a0"),
);
const line = fc
  .tuple(digest, blank, filename, fc.oneof(end, foreign), end)
  .map((all) => all.join(""));
const part = fc.oneof(line, line, digest, blank, filename, end, foreign);

it(
  "a checksum document is refused, or each of its lines is a digest and a name that were there",
  options,
  () => {
    let found = 0;
    fc.assert(
      fc.property(fc.array(part, { maxLength: 8 }), (parts) => {
        const text = parts.join("");
        const lines = Buffer.from(text).toString("latin1").split("\n");
        const written = lines.map((one) => {
          const [, first = "", second] =
            /^[\t-\r ]*([^\t-\r ]*)[\t-\r ]+([^\t-\r ]+)/.exec(one) ?? [];
          return `${first.toLowerCase()} ${second}`;
        });
        for (const [name, sha256] of read(text)) {
          found++;
          expect(sha256).toMatch(/^[0-9a-f]{64}$/);
          expect(name).toMatch(/^[^\t-\r ]+$/);
          expect(written).toContain(`${sha256} ${name}`);
        }
      }),
      tries,
    );
    expect(found).toBeGreaterThan(tries.numRuns / 10);
  },
);

it(
  "a zip with bytes changed is refused or hashed, in bounded time",
  options,
  async () => {
    const text = { content: "x".repeat(400), deflate: true };
    const zip = zipBytes([executable, { name: "docs/a.md", ...text }]);
    const change = fc.tuple(fc.nat(zip.length - 1), fc.nat(255));
    const changes = fc.array(change, { minLength: 1, maxLength: 6 });
    const cuts = fc.constantFrom(0, 1, 22, 100);
    await fc.assert(
      fc.asyncProperty(changes, cuts, async (changes, cut) => {
        const bytes = Buffer.from(zip.subarray(0, zip.length - cut));
        for (const [at, value] of changes) bytes[at % bytes.length] = value;
        expect(await hashBytes(bytes)).toMatch(/^(?:h1|refused):/);
      }),
      tries,
    );
  },
);
