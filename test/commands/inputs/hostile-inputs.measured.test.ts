import { monitorEventLoopDelay } from "node:perf_hooks";
import { expect, it } from "vitest";
import { parseHcl } from "../../../src/commands/inputs/parser.ts";

const kinds: Readonly<Record<string, (size: number) => string>> = {
  "dollar signs": (size) => `a = "${"$".repeat(size)}"\n`,
  "percent signs": (size) => `a = "${"%".repeat(size)}"\n`,
  "open templates": (size) => `a = "${"${".repeat(size / 2)}"\n`,
  "open lists": (size) => `a = ${"[".repeat(size)}`,
  "open parentheses": (size) => `a = ${"(".repeat(size)}`,
  "open blocks": (size) => "a {\n".repeat(size / 4),
  "open heredocs": (size) => "a = <<A\n".repeat(size / 8),
  "minus signs": (size) => `a = ${"-".repeat(size)}1\n`,
  questions: (size) => `a = ${"a?".repeat(size / 2)}\n`,
  "names that differ": (size) =>
    many(size, (at) => `resource "p${at}_x" "y" {}\n`),
  instances: (size) =>
    many(size, (at) => `resource "p_x" "y${at}" {\n  ami = "abc"\n}\n`),
  modules: (size) =>
    many(size, (at) => `module "m${at}" {\n  source = "a/b/c"\n}\n`),
};

function many(size: number, unit: (at: number) => string): string {
  const one = unit(100_000).length;
  return Array.from({ length: Math.floor(size / one) }, (_, at) =>
    unit(at),
  ).join("");
}

const files = Object.keys(kinds).flatMap((kind) =>
  [16, 128, 1024].map((kibibytes) => ({ kind, kibibytes })),
);

it.each(files)(
  "$kibibytes KiB of $kind end within twelve seconds, and hold nobody up",
  async ({ kind, kibibytes }) => {
    const text = kinds[kind]?.(kibibytes * 1024 - 16) ?? "";
    const delay = monitorEventLoopDelay({ resolution: 5 });
    delay.enable();
    const start = performance.now();
    const read = await parseHcl("a.tf", text).catch((error: unknown) => error);
    const took = performance.now() - start;
    delay.disable();
    if (read instanceof Error)
      expect(read.message).toContain(
        "more time or memory to parse than any honest file",
      );
    expect(took).toBeLessThan(12_000);
    expect(delay.max / 1e6).toBeLessThan(100);
  },
  30_000,
);
