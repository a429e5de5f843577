import { describe, expect, it } from "vitest";
import {
  parseModuleSource,
  resolveLocation,
} from "../../src/address/module-source.ts";
import type { Failure } from "../../src/errors/index.ts";
import { failing } from "../scenes/failing.ts";

const module = "registry.example.com/acme/net/aws 1.0.0";
const base = "https://registry.example.com/v1/modules/";
const refusalOf = (read: () => unknown): Failure<"module-source-refused"> => {
  try {
    read();
  } catch (error) {
    expect(error).toEqual(failing("module-source-refused"));
    return error as Failure<"module-source-refused">;
  }
  throw new Error("it was not refused");
};

describe("a place that no client should be sent to", () => {
  it.each([
    ["", "expected at most 4096 printable characters"],
    ["https://a.example/a b", "expected at most 4096 printable characters"],
    ["a/b", "it is neither a URL nor a known short form"],
    ["/a", "it is not a URL", "none"],
    ["https://:1:1/", "it is not a URL"],
    ["git::https://:1:1/", "it is not a URL"],
    ["file:///etc/passwd", 'expected git or an archive over HTTP, got "file"'],
    [
      "git::ftp://a.example/x",
      'git is asked over https and ssh only, not over "ftp:"',
    ],
    [
      "git::ssh://git:secret@a.example/x",
      "expected ssh://USER@HOST/PATH of plain names and without a password",
    ],
    [
      "https://u:secret@a.example/x.zip//../etc?token=secret",
      'expected a folder in the package, got "../etc"',
    ],
    [
      "git::https://u:secret@a.example/x?ref=--upload-pack",
      'expected a ref that git would make, got "--upload-pack"',
    ],
  ])("is refused in a sentence that names its module: %s", (...row) => {
    const [location, reason, from = base] = row;
    expect(
      refusalOf(() => parseModuleSource(module, location, from)).message,
    ).toBe(
      `The place that the registry names for ${module} is refused (${reason}): tell its publisher.`,
    );
  });

  it("is refused so where it counts from nothing, too", () => {
    const { message } = refusalOf(() => resolveLocation(module, "/a", "none"));
    expect(message).toContain(module);
  });
});
