import { mkdirSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { loadConfiguration } from "../../src/config/load.ts";
import { readSource } from "../../src/config/source.ts";
import { temporaryFolder, writeInto } from "./written.ts";

describe("which file is read", () => {
  const home = "/home/someone";
  const find = (given: {
    env: NodeJS.ProcessEnv;
    cwd: string;
    file?: string;
  }) => loadConfiguration({ file: undefined, home, ...given });

  it("is the one of --config, before all others", () => {
    const cwd = temporaryFolder();
    writeInto(cwd, "provender.yaml", "offline: nonsense");
    const file = writeInto(cwd, "asked.yaml", "listen: { port: 1 }");
    const env = { PROVENDER_CONFIG: writeInto(cwd, "variable.yaml", "- 1") };
    const configuration = find({ file, env, cwd });
    expect(configuration.listen.port).toBe(1);
    expect(configuration.source).toBe(file);
  });

  it("is the one of $PROVENDER_CONFIG, relative to the working directory", () => {
    const cwd = temporaryFolder();
    writeInto(cwd, "provender.yaml", "offline: nonsense");
    writeInto(cwd, "variable.yaml", "listen: { port: 2 }");
    const env = { PROVENDER_CONFIG: "variable.yaml" };
    const configuration = find({ env, cwd });
    expect(configuration.listen.port).toBe(2);
    expect(configuration.source).toBe(join(cwd, "variable.yaml"));
  });

  it("is ./provender.yaml if it exists, also when $PROVENDER_CONFIG is empty", () => {
    const cwd = temporaryFolder();
    const path = writeInto(cwd, "provender.yaml", "listen: { port: 3 }");
    const env = { PROVENDER_CONFIG: "" };
    const configuration = find({ env, cwd });
    expect(configuration.listen.port).toBe(3);
    expect(configuration.source).toBe(path);
  });

  it("is the system's file if it exists and no other was found", () => {
    const cwd = temporaryFolder();
    const system = writeInto(cwd, "system.yaml", "offline: true");
    const from = { env: {}, cwd, home };
    expect(readSource(undefined, from, system)).toEqual({
      path: system,
      text: "offline: true",
    });
  });

  it("is absent when no place has one", () => {
    const cwd = temporaryFolder();
    const from = { env: {}, cwd, home };
    expect(readSource(undefined, from, join(cwd, "none"))).toBeUndefined();
  });

  it("must exist when it was asked for, and the error says who asked", () => {
    const cwd = temporaryFolder();
    const input = { env: {}, cwd };
    expect(() => find({ ...input, file: "gone.yaml" })).toThrow(
      /^\S+gone\.yaml: the configuration cannot be read \(ENOENT, given by --config\)/,
    );
    const env = { PROVENDER_CONFIG: "gone.yaml" };
    expect(() => find({ ...input, env })).toThrow(
      /\(ENOENT, given by \$PROVENDER_CONFIG\)/,
    );
  });

  it("is refused, not skipped, when it exists and cannot be read", () => {
    const cwd = temporaryFolder();
    mkdirSync(join(cwd, "provender.yaml"));
    expect(() => find({ env: {}, cwd })).toThrow(
      /provender\.yaml: the configuration cannot be read \(EISDIR\)/,
    );
  });

  it("is refused when it is larger than 1 MiB or not UTF-8", () => {
    const cwd = temporaryFolder();
    const input = { env: {}, cwd };
    const large = writeInto(cwd, "large.yaml", "#".repeat(2 ** 20 + 1));
    const binary = writeInto(cwd, "binary.yaml", Uint8Array.of(0x23, 0xff));
    expect(() => find({ ...input, file: large })).toThrow(
      /more than 1048576 bytes/,
    );
    expect(() => find({ ...input, file: binary })).toThrow(/not UTF-8 text/);
    const full = writeInto(cwd, "full.yaml", "#".repeat(2 ** 20));
    expect(find({ ...input, file: full }).offline).toBe(false);
  });
});
