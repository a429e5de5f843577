import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";
import { runCommand } from "../../running-command.ts";
import { scratch } from "../../running-mirror.ts";
import { watchLoopSteps } from "../../scenes/loop-steps.ts";
import { startWorld } from "../../scenes/world.ts";

const steps = watchLoopSteps();
const { registry, mirror } = await startWorld({}, steps.options);
await registry.publish({ version: "1.0.0" });

const KiB = 1024;
const many = (size: number, unit: (at: number) => string) => {
  const count = Math.floor(size / unit(100_000).length);
  return Array.from({ length: count }, (_, at) => unit(at)).join("");
};
const fill = (size: number, unit: string) => many(size, () => unit);
const provider = (at: number) =>
  `provider "registry.terraform.io/acme/p${at}" {\n  version = "1.0.0"\n}\n`;
const required = (at: number) => `    p${at} = { source = "acme/p${at}" }\n`;

/** Files that somebody wrote to do harm, and files as large configurations have them; the name of those says where they are. */
const files: readonly (readonly [string, number, string])[] = [
  ["deep nesting", 16, fill(8 * KiB, "[") + fill(8 * KiB, "]")],
  ["many blocks", 16, many(16 * KiB, (at) => `b${at} "x" {}\n`)],
  ["heredocs", 16, fill(16 * KiB, "a = <<A\n")],
  ["comments", 8 * KiB, fill(8 * KiB * KiB, "/*")],
  ["nested interpolations", 16, `a = "${fill(16 * KiB, "${")}"\n`],
  ["a line that takes minutes", 256, `a = "${fill(256 * KiB, "$")}"\n`],
  ["binary", 16, fill(16 * KiB, "\u0000\u00ff\u0007")],
  ["an honest lock file", 16, many(16 * KiB, provider)],
  [
    "an honest configuration",
    16,
    `terraform {\n  required_providers {\n${many(16 * KiB, required)}  }\n}\n`,
  ],
];

it.each(files)(
  "%s in %i KiB: lock, prefetch and export say so or read it in time, and the daemon is held up by none",
  async (kind, size, content) => {
    const directory = scratch("given");
    const lockFile = join(directory, ".terraform.lock.hcl");
    const isLocked = !kind.endsWith("configuration");
    const isRequired = !kind.endsWith("lock file");
    if (isLocked) writeFileSync(lockFile, content);
    if (isRequired) writeFileSync(join(directory, "main.tf"), content);
    const from = ["--mirror", mirror.url, "--ca", mirror.caFile];
    const config = ["--config", mirror.configFile, "--platform", "linux_amd64"];
    const given = isRequired
      ? ["--directory", directory]
      : ["--lock-file", lockFile];
    steps.restart();
    for (const args of [
      ["lock", ...from, ...config, directory],
      ["prefetch", ...config, ...given],
      ["export", "--to", join(scratch("to"), "a.tar"), ...config, ...given],
    ]) {
      const start = performance.now();
      const { status, stderr } = await runCommand(args);
      const took = performance.now() - start;
      console.log(
        `${kind} ${size}: ${args[0]} ${status} ${Math.round(took)} ms`,
      );
      expect([0, 1]).toContain(status);
      expect(stderr).toMatch(/\w \w/);
      expect(stderr).not.toContain("    at ");
      if (kind.endsWith("minutes"))
        expect(stderr).toContain("more time or memory to parse");
      if (kind.includes("honest"))
        expect(stderr).toMatch(/acme\/p\d|is not there/);
      expect(took).toBeLessThan(60_000);
    }
    expect(steps.longest()).toBeLessThan(100);
  },
  240_000,
);
