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

const fill = (size: number, unit: string) =>
  unit.repeat(Math.floor(size / unit.length));
const many = (size: number, unit: (at: number) => string) => {
  const { length } = unit(100_000);
  const count = Math.floor(size / length);
  return Array.from({ length: count }, (_, at) => unit(at)).join("");
};

/** Files that somebody wrote to do harm, by their kind and size. */
const hostile: Readonly<Record<string, (size: number) => string>> = {
  "deep nesting": (size) =>
    `a = ${fill(size / 2, "[")}${fill(size / 2, "]")}\n`,
  "many blocks": (size) => many(size, (at) => `b${at} "x" {}\n`),
  "long strings": (size) => `a = "${fill(size, "x")}"\n`,
  "many quotes": (size) => fill(size, '"'),
  heredocs: (size) => fill(size, "a = <<A\n"),
  comments: (size) => fill(size, "/*"),
  "nested interpolations": (size) => `a = "${fill(size, "${")}"\n`,
  unclosed: (size) => fill(size, "a {\n"),
  "one long line": (size) => `a = "${fill(size, "$")}"\n`,
  binary: (size) => fill(size, "\u0000\u00ff\u0007"),
};
/** Files as large configurations have them. */
const honest: typeof hostile = {
  "a lock file of many providers": (size) =>
    many(
      size,
      (at) =>
        `provider "registry.terraform.io/acme/p${at}" {\n  version = "1.0.0"\n}\n`,
    ),
  "a configuration of many providers": (size) =>
    `terraform {\n  required_providers {\n${many(size, (at) => `    p${at} = { source = "acme/p${at}" }\n`)}  }\n}\n`,
};

const kinds = Object.entries({ ...hostile, ...honest });
/** A file of that size which the parser would take minutes for. */
const [longLine, slow] = ["one long line", 256 * 1024];
const files = kinds.flatMap(([kind, make]) =>
  [16 * 1024, 8 * 1024 * 1024, ...(kind === longLine ? [slow] : [])].map(
    (size) => ({ kind, size, make }),
  ),
);

it.each(files)(
  "$kind in $size bytes: lock, prefetch and export say so or read it in time, and the daemon is held up by none",
  async ({ kind, size, make }) => {
    const directory = scratch("given");
    const content = make(size);
    const isLocked = kind in hostile || kind.startsWith("a lock");
    const isRequired = !kind.startsWith("a lock");
    if (isLocked)
      writeFileSync(join(directory, ".terraform.lock.hcl"), content);
    if (isRequired) writeFileSync(join(directory, "main.tf"), content);
    const from = ["--mirror", mirror.url, "--ca", mirror.caFile];
    const config = ["--config", mirror.configFile, "--platform", "linux_amd64"];
    const chosen = isLocked
      ? ["--lock-file", join(directory, ".terraform.lock.hcl")]
      : ["--directory", directory];
    const given = isRequired ? ["--directory", directory] : chosen;
    const commands = [
      ["lock", ...from, ...config, directory],
      ["prefetch", ...config, ...given],
      ["export", "--to", join(scratch("to"), "a.tar"), ...config, ...given],
    ];
    steps.restart();
    const result = [];
    for (const args of commands) {
      const start = performance.now();
      const { status, stderr } = await runCommand(args);
      const took = Math.round(performance.now() - start);
      result.push({ verb: args[0], status, took, said: stderr.slice(0, 200) });
    }
    const longest = steps.longest();
    console.log(
      `${kind} ${size}: ${result.map(({ verb, status, took }) => `${verb} ${status} ${took} ms`).join(", ")}; longest step of the daemon ${longest.toFixed(1)} ms`,
    );
    for (const { status, took, said } of result) {
      expect([0, 1]).toContain(status);
      expect(said).toMatch(/\w \w/);
      expect(said).not.toContain("    at ");
      if (size === slow) expect(said).toContain("more time or memory to parse");
      if (kind in honest && size < 1024 * 1024)
        expect(said).toMatch(/acme\/p\d|is not there/);
      expect(took).toBeLessThan(60_000);
    }
    expect(longest).toBeLessThan(100);
  },
  240_000,
);
