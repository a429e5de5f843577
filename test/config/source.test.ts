import { mkdirSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { loadConfiguration } from "../../src/config/load.ts";
import { readSource } from "../../src/config/source.ts";
import { temporaryFolder, writeInto } from "./written.ts";

const home = "/home/someone";

/** What is loaded in a working directory with these files. */
function loadIn(
  files: Readonly<Record<string, string | Uint8Array>>,
  { file, env = {} }: { file?: string; env?: NodeJS.ProcessEnv } = {},
) {
  const cwd = temporaryFolder();
  for (const [name, text] of Object.entries(files)) writeInto(cwd, name, text);
  const loaded = () => loadConfiguration({ file, env, cwd, home });
  return { cwd, loaded };
}

describe("which file is read", () => {
  const env = { PROVENDER_CONFIG: "variable.yaml" };

  it("is that of --config, else of $PROVENDER_CONFIG, else ./provender.yaml", () => {
    const nonsense = {
      "it.yaml": "offline: nonsense",
      "variable.yaml": "offline: nonsense",
      "provender.yaml": "offline: nonsense",
    };
    for (const [from, name] of [
      [{ file: "it.yaml", env }, "it.yaml"],
      [{ env }, "variable.yaml"],
      [{ env: { PROVENDER_CONFIG: "" } }, "provender.yaml"],
    ] as const) {
      const files = { ...nonsense, [name]: "offline: true" };
      const { cwd, loaded } = loadIn(files, from);
      expect(loaded()).toMatchObject({ source: join(cwd, name) });
    }
  });

  it("is the system's file if it exists and no other was found", () => {
    const { cwd } = loadIn({ "system.yaml": "offline: true" });
    const path = join(cwd, "system.yaml");
    const from = { env: {}, cwd, home };
    const text = "offline: true";
    expect(readSource(undefined, from, path)).toEqual({ path, text });
    expect(readSource(undefined, from, join(cwd, "none"))).toBeUndefined();
  });

  it.each([
    ["--config", { file: "gone.yaml" }],
    ["$PROVENDER_CONFIG", { env: { PROVENDER_CONFIG: "gone.yaml" } }],
  ])("must exist when %s asked for it", (who, from) => {
    const { cwd, loaded } = loadIn({}, from);
    expect(loaded).toThrow(
      `${join(cwd, "gone.yaml")}: the configuration cannot be read (ENOENT, given by ${who})`,
    );
  });

  it("is refused, not skipped, when it exists and cannot be read, is larger than 1 MiB or not UTF-8", () => {
    const { cwd, loaded } = loadIn({});
    mkdirSync(join(cwd, "provender.yaml"));
    expect(loaded).toThrow(
      /provender\.yaml: the configuration cannot be read \(EISDIR\)/,
    );
    const read = (text: string | Uint8Array) =>
      loadIn({ "provender.yaml": text }).loaded;
    const full = "#".repeat(2 ** 20);
    expect(read(`${full}#`)).toThrow(/more than 1048576 bytes/);
    expect(read(Uint8Array.of(0x23, 0xff))).toThrow(/not UTF-8 text/);
    expect(read(full)().offline).toBe(false);
  });
});
