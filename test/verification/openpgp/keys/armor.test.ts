import { describe, expect, it } from "vitest";
import { Certificate, outcome, signDocument } from "../certificates.ts";
import { armor } from "../forge.ts";

describe("an armored block", () => {
  const certificate = new Certificate().userId("maker");
  const signature = signDocument(certificate.primary);
  const text = certificate.armor();
  const [begin = "", ...rest] = text.split("\n");
  const widened = (blanks: number) =>
    text.replace("-\n", `-${" ".repeat(blanks)}\n`);
  const wrapped = certificate
    .octets()
    .toString("base64")
    .match(/.{1,96}/g);

  it.each([
    ["text before it", `Our key, as on our page:\n\n${text}`],
    ["an empty BEGIN line before it", `-----BEGIN -----\n\n${text}`],
    ["a first line of 99 octets", widened(63)],
    ["lines of 96", [begin, "", ...(wrapped ?? [])].join("\n")],
    ["no end of its last line", text.replace(/\n-----END.*/s, "")],
    ["CRLF", text.replaceAll("\n", "\r\n")],
    ["headers", [begin, "Version: x", "Comment: y", ...rest].join("\n")],
    ["a wrong checksum", text.replace("-----END", "=AAAA\n-----END")],
    ["no end", text.replace(/-----END.*/s, "")],
    ["a block before it whose headers break off", `${begin}\nbroken\n${text}`],
    [
      "a header before it that breaks off after 100 octets",
      `${begin}\n${"x".repeat(100)}${text}`,
    ],
    [
      "a header of 200 octets",
      [begin, `Comment: ${"x".repeat(191)}`, ...rest].join("\n"),
    ],
  ])("may have %s", async (_name, armored) => {
    expect(await outcome([armored], signature)).toBe("ok");
  });

  it.each([
    ["nothing in it", ""],
    ["a first line of 100 octets", widened(64)],
    ["a malformed header", [begin, "broken", ...rest].join("\n")],
    [
      "a CR that parts a first line of 99 octets from a header",
      `${begin}\n${"x".repeat(99)}\r${widened(63)}`,
    ],
    [
      "a CR for the end of its checksum",
      text.replace(/-----END.*/s, "=AAAA\r"),
    ],
    ["another type", text.replaceAll("PUBLIC KEY BLOCK", "MESSAGE")],
    ["a byte order mark", `\uFEFF${text}`],
    [
      "a line of 97",
      armor(certificate.octets()).replace(/^(.{64})\n(.{33})/m, "$1$2\n"),
    ],
    ["blanks around its lines", text.replace(/^(?=[^-])/gm, "  ")],
    ["other characters", text.replace(/\n.(.{63})\n/, "\n*$1\n")],
    ["101 blanks for a line", text.replace("\n\n", `\n${" ".repeat(101)}\n`)],
    [
      "a header after 100 blanks",
      [begin, `${" ".repeat(100)}Version: x`, ...rest].join("\n"),
    ],
    [
      "another end of its first line",
      text.replace("-\n", `-${"x".repeat(99)}\n`),
    ],
    ["half of its data", text.replace(/^.{30}(.{34})\n/m, "$1\n")],
  ])("must not have %s", async (_name, armored) => {
    expect(armored).not.toBe(text);
    expect(["unreadable-key", "unusable-key"]).toContain(
      await outcome([armored], signature),
    );
  });

  it("must not end with its first line", async () => {
    expect(await outcome([`${begin}\n`, certificate], signature)).toBe(
      "unreadable-key",
    );
  });

  it("may have blanks around its lines for OpenTofu alone, whose go-crypto trims them", async () => {
    const indented = text.replace(/^(?=[^-\n])/gm, "  ");
    const wide = text.replace(/\n(.{64})\n/, `\n$1${" ".repeat(36)}\n`);
    expect(await outcome([wide], signature, "opentofu")).toBe("unreadable-key");
    expect(await outcome([indented], signature, "opentofu")).toBe("ok");
    expect(await outcome([indented], signature, "terraform")).toBe(
      "unreadable-key",
    );
  });
});
