import { describe, expect, it } from "vitest";
import { parseProviderAddress } from "../../src/address/provider-address.ts";
import { parseVersion } from "../../src/address/version.ts";
import { checksumsSubject } from "../../src/mirror/releases/release.ts";
import { failing } from "../scenes/failing.ts";
import { parseChecksumsDocument } from "../../src/verification/checksums-document.ts";

const name = "terraform-provider-demo_1.0.0_linux_amd64.zip";
const other = "terraform-provider-demo_1.0.0_darwin_arm64.zip";
const a = "a".repeat(64);
const b = "b".repeat(64);

const subject = checksumsSubject({
  provider: parseProviderAddress("registry.example.com/acme/demo"),
  version: parseVersion("1.0.0"),
});

function parse(
  document: string | Uint8Array,
): Readonly<Record<string, string>> {
  const octets = Buffer.from(document as string);
  return Object.fromEntries(parseChecksumsDocument(subject, octets));
}

describe("a checksums document", () => {
  it.each([
    ["two blanks", `${a}  ${name}\n`],
    ["one blank, or more and tabs", `${a} ${name}\n${a} \t \t ${name}\n`],
    ["no newline at the end", `${a}  ${name}`],
    ["CRLF", `${a}  ${name}\r\n`],
    ["blank lines around", `\n\r\n \t\n${a}  ${name}\n\n\n`],
    ["mixed case", `${"aA".repeat(32)}  ${name}\n`],
    ["its size", `${a}  ${name}  30000\n`],
    ["anything after a blank", `${a}  ${name} \t# built\n`],
    ["blanks before", `  ${a}  ${name}\n`],
    ["a carriage return and another line", `${a}  ${name}\r${b}  ${other}\n`],
  ])("may have %s", (_what, document) => {
    expect(parse(document)).toEqual({ [name]: a });
  });

  it("may have 10,000 lines, and is refused with more", () => {
    const lines = (count: number) => `${a}  ${name}\n`.repeat(count);
    expect(parse(lines(10_000))).toEqual({ [name]: a });
    expect(() => parse(`${lines(10_000)}\n`)).toThrow(
      failing("checksums-malformed"),
    );
    expect(() => parse("\n".repeat(4 * 1024 * 1024))).toThrow(
      /at line 10002 \(more than 10000 lines/,
    );
  });

  it("may have other names, and be empty", () => {
    expect(parse(`${a}  ${name}\n${b}  ${other}\n`)).toEqual({
      [name]: a,
      [other]: b,
    });
    expect(parse("")).toEqual({});
  });

  it.each<readonly [string, string | Uint8Array]>([
    ["a comment", "# made by hand"],
    ["a star, as binary mode writes it", `${b} *${other}`],
    ["another file with blanks in its name", `${b}  release notes.txt`],
    ["another digest of another file", `${a}  x\n${b}  x`],
    ["the BSD form", `SHA256 (${other}) = ${b}`],
    ["70 KB of digits", "b".repeat(70_000)],
    ["UTF-16", Buffer.from(`${b}  ${other}`, "utf16le")],
  ])(
    "passes over %s, before and after the release's line",
    (_what, foreign) => {
      const line = Buffer.from(`${a}  ${name}\n`);
      const [extra, end] = [Buffer.from(foreign as string), Buffer.from("\n")];
      for (const document of [
        Buffer.concat([extra, end, line]),
        Buffer.concat([line, extra, end]),
        Buffer.concat([line, extra]),
      ])
        expect(parse(document)).toEqual({ [name]: a });
    },
  );

  it("knows no archive whose name ends with what is no blank", () => {
    for (const end of ["\u00a0", "\ufeff", "\0"]) {
      expect(parse(`${a}  ${name}${end}\n`)).not.toHaveProperty([name]);
      expect(parse(`${a}${end}${name}\n`)).toEqual({});
    }
  });

  it.each<readonly [string, string, number]>([
    ["a byte order mark", `\ufeff${a}  ${name}\n`, 1],
    ["63 digits", `${a.slice(1)}  ${name}\n`, 1],
    ["a digest with a wrong digit", `${a.slice(1)}g  ${name}\n`, 1],
    ["an escaped line of coreutils", `\\${a}  ${name}\n`, 1],
    ["70 KB of digits", `${"a".repeat(70_000)}  ${name}\n`, 1],
    ["one name with two digests", `${a}  ${name}\n${b}  ${name}\n`, 2],
  ])("is refused for %s, with the line", (_what, document, line) => {
    expect(() => parse(document)).toThrow(
      expect.objectContaining({
        ...{ code: "checksums-malformed", line },
        message: expect.stringMatching(/^.{1,500}$/) as unknown,
      }),
    );
  });

  it.each([
    ["another version", "terraform-provider-demo_1.0.1_linux_amd64.zip"],
    ["a version that begins alike", "terraform-provider-demo_1.0.0-rc1_a.zip"],
    ["another provider", "terraform-provider-dem_1.0.0_linux_amd64.zip"],
    ["a folder", `./${name}`],
  ])("is read for one release: a line of %s is not kept", (_what, foreign) => {
    const document = `${b}  ${foreign}\n${a}  ${name}\n${b}  ${foreign}\n`;
    expect(parse(document)).toEqual({ [name]: a });
  });
});
