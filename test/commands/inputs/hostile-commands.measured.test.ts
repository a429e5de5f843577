import { expect, it } from "vitest";
import { runCommand } from "../../running-command.ts";
import { makeDirectory, makeStorage } from "../storage.ts";

const KiB = 1024;
const many = (size: number, unit: (at: number) => string) => {
  const count = Math.floor(size / unit(100_000).length);
  return Array.from({ length: count }, (_, at) => unit(at)).join("");
};
const fill = (size: number, unit: string) => many(size, () => unit);
const provider = (at: number) =>
  `provider "registry.terraform.io/acme/p${at}" {\n  version = "1.0.0"\n}\n`;
const required = (at: number) => `    p${at} = { source = "acme/p${at}" }\n`;

/** Files that somebody wrote to do harm, and files as large configurations have them. */
const files: readonly (readonly [string, string, RegExp])[] = [
  ["deep nesting", fill(8 * KiB, "[") + fill(8 * KiB, "]"), /\w \w/],
  ["comments", fill(8 * KiB * KiB, "/*"), /expected at most/],
  ["nested interpolations", `a = "${fill(16 * KiB, "${")}"\n`, /\w \w/],
  [
    "a line that takes minutes",
    `a = "${fill(256 * KiB, "$")}"\n`,
    /more time or memory to parse/,
  ],
  ["binary", fill(16 * KiB, "\u0000\u00ff\u0007"), /\w \w/],
  ["an honest lock file", many(16 * KiB, provider), /acme\/p\d/],
  [
    "an honest configuration",
    `terraform {\n  required_providers {\n${many(16 * KiB, required)}  }\n}\n`,
    /acme\/p\d/,
  ],
];

const { configFile } = makeStorage({});

it.each(files)(
  "%s: a command reads it, or says what is wrong, in time",
  async (kind, content, says) => {
    const directory = makeDirectory({
      ...(!kind.endsWith("configuration") && {
        ".terraform.lock.hcl": content,
      }),
      ...(!kind.endsWith("lock file") && { "main.tf": content }),
    });
    const start = performance.now();
    const { status, stderr } = await runCommand([
      ...["prefetch", "--check", "--config", configFile],
      ...["--platform", "linux_amd64", "--directory", directory],
    ]);
    const took = performance.now() - start;
    expect(status).toBe(1);
    expect(stderr).toMatch(says);
    expect(stderr).not.toContain("    at ");
    expect(took).toBeLessThan(60_000);
  },
  120_000,
);
