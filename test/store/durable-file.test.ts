import { readFileSync, writeFileSync } from "node:fs";
import { spawnSync } from "node:child_process";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { describe, expect, it } from "vitest";
import { writeDurably } from "../../src/store/durable-file.ts";
import { scratch } from "../running-mirror.ts";

const hasStrace = spawnSync("strace", ["-V"]).status === 0;
const script = pathToFileURL(
  join(import.meta.dirname, "..", "..", "src", "store", "durable-file.ts"),
).href;

/** The system calls that change or sync files below the folder, in order, without the folder's name. */
function traceWrite(folder: string): readonly string[] {
  const log = join(folder, "trace");
  const code = `
    const { writeDurably } = await import(${JSON.stringify(script)});
    await writeDurably(${JSON.stringify(`${folder}/staged`)}, ${JSON.stringify(`${folder}/a/b/final`)}, "bytes");`;
  const ran = spawnSync(
    "strace",
    [
      ...["-f", "-y", "-o", log, "-e", "trace=mkdir,fsync,rename,renameat2"],
      ...[process.execPath, "--input-type=module", "-e", code],
    ],
    // Calls by way of io_uring are not seen by strace.
    { encoding: "utf8", env: { UV_USE_IO_URING: "0" } },
  );
  if (ran.status !== 0) throw new Error(ran.stderr);
  return readFileSync(log, "utf8")
    .split("\n")
    .filter((line) => line.includes(folder))
    .map((line) => line.replaceAll(folder, "").replace(/^\d+ +/, ""))
    .map((line) => {
      const [, name = ""] = /^(\w+)\(/.exec(line) ?? [];
      const [, path = ""] = /[<"](\/[^>"]*|)[>"]/.exec(line) ?? [];
      return `${name} ${path === "" ? "." : path.slice(1)}`;
    });
}

describe("a durable write", () => {
  it.runIf(hasStrace)(
    "syncs the file before its rename, and every folder whose entries are new",
    () => {
      const calls = traceWrite(scratch("durable"));
      const at = (call: string) => calls.indexOf(call);
      const rename = calls.findIndex((call) => call.startsWith("rename"));
      expect(at("fsync staged")).toBeGreaterThanOrEqual(0);
      expect(at("fsync staged")).toBeLessThan(rename);
      expect(calls.lastIndexOf("fsync a/b")).toBeGreaterThan(rename);
      for (const folder of ["fsync .", "fsync a"]) {
        expect(at(folder)).toBeGreaterThanOrEqual(0);
        expect(at(folder)).toBeLessThan(rename);
      }
    },
  );

  it("does not overwrite a staged file of another process, nor remove it", async () => {
    const folder = scratch("durable");
    const staged = join(folder, "staged");
    writeFileSync(staged, "theirs");
    await expect(
      writeDurably(staged, join(folder, "final"), "bytes"),
    ).rejects.toThrow(/EEXIST/);
    expect(readFileSync(staged, "utf8")).toBe("theirs");
  });
});
