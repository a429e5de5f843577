import { readdirSync, readFileSync } from "node:fs";
import { join, relative } from "node:path";
import { fileURLToPath } from "node:url";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { makeStorage } from "../commands/storage.ts";
import { createAuthority } from "../fakes/authority.ts";
import { startRegistry, type Registry } from "../fakes/registry.ts";
import { originsOf } from "../origins.ts";
import { runCommand } from "../running-command.ts";
import { scratch } from "../running-mirror.ts";

const source = join(import.meta.dirname, "..", "..", "src");

interface Range {
  readonly startOffset: number;
  readonly endOffset: number;
  readonly count: number;
}

interface Coverage {
  readonly result: readonly {
    readonly url: string;
    readonly functions: readonly {
      readonly functionName: string;
      readonly ranges: readonly Range[];
    }[];
  }[];
}

type Functions = Coverage["result"][number]["functions"];

/** Functions that V8 counted in each file of src, by its path there. */
type Ran = ReadonlyMap<string, Functions>;

let registry: Registry;
let ran: Ran;

beforeAll(async () => {
  const authority = await createAuthority();
  registry = await startRegistry({ authority });
  await registry.publish({ version: "1.0.0", platforms: ["linux_amd64"] });
  const { configFile } = makeStorage(originsOf(authority, registry));
  const counted = scratch("coverage");
  const asked = ["acme/widget@1.0.0", "--platform", "linux_amd64"];
  const run = await runCommand(
    ["prefetch", "--config", configFile, ...asked],
    // Code from the cache is counted less exactly.
    { env: { NODE_V8_COVERAGE: counted, NODE_DISABLE_COMPILE_CACHE: "1" } },
  );
  expect(run).toMatchObject({
    status: 0,
    stderr: expect.stringMatching(/^1 fetched /m) as string,
  });
  ran = readCoverage(counted);
});

afterAll(() => registry.stop());

/** Reads the main thread's coverage. */
function readCoverage(folder: string): Ran {
  const all = readdirSync(folder).map(
    (name) => JSON.parse(readFileSync(join(folder, name), "utf8")) as Coverage,
  );
  const files = all.map(
    ({ result }) =>
      new Map(
        result
          .filter(({ url }) => url.startsWith("file:"))
          .map(({ url, functions }) => [
            relative(source, fileURLToPath(url)),
            functions,
          ]),
      ),
  );
  return files.find((one) => one.has("main.ts")) ?? new Map();
}

/** Whether the code at an offset ran: what is said of the smallest range around it. */
function hasRun(functions: Functions, offset: number): boolean {
  const around = functions
    .flatMap(({ ranges }) => ranges)
    .filter((one) => one.startOffset <= offset && offset < one.endOffset);
  const size = ({ startOffset, endOffset }: Range) => endOffset - startOffset;
  const [smallest] = around.toSorted((a, b) => size(a) - size(b));
  return smallest !== undefined && smallest.count > 0;
}

/** The classes of ours that files below a folder of src made objects of. */
function listMade(folder: string): readonly string[] {
  const made = [...ran].flatMap(([path, functions]) => {
    if (path.startsWith("..") || !path.startsWith(folder)) return [];
    const text = readFileSync(join(source, path), "utf8");
    return [...text.matchAll(/\bnew ([A-Z]\w+)/g)].flatMap(
      ({ index, 1: name = "" }) =>
        isOurs(text, name) && hasRun(functions, index) ? [name] : [],
    );
  });
  return [...new Set(made)].toSorted();
}

/** Imported from a file of ours, or declared in this one. */
function isOurs(text: string, name: string): boolean {
  return new RegExp(
    `\\bimport [^;]*\\b${name}\\b[^;]* from "\\.|\\bclass ${name}\\b`,
  ).test(text);
}

/** How often a function of a file was called. */
function countCalls(path: string, name: string): number {
  const all = ran.get(path)?.filter((one) => one.functionName === name) ?? [];
  return all.reduce((sum, { ranges }) => sum + (ranges[0]?.count ?? 0), 0);
}

describe("a prefetch of one package", () => {
  it.each([
    ["mirror/standings/provider-catalog.ts", "originOf"],
    ["mirror/providers/provider-mirror.ts", "recallRelease"],
    ["mirror/providers/provider-mirror.ts", "openArchive"],
    ["mirror/trust/trust-store.ts", "open"],
    ["mirror/trust/admission.ts", "openVersion"],
    ["mirror/archives/archives.ts", "#start"],
    ["mirror/releases/package-hashes.ts", "#computeAndKeep"],
  ])("calls, in %s, %s once", (path, name) => {
    expect(countCalls(path, name)).toBe(1);
  });

  it("is wired from at most 28 kinds of objects, among 60 in all", () => {
    const wired = listMade("wiring/");
    expect(wired).toContain("ProviderMirror");
    expect(wired.length, wired.join(" ")).toBeLessThanOrEqual(28);
    const all = listMade("");
    expect(all.length, all.join(" ")).toBeLessThanOrEqual(60);
  });

  it("wires nothing that only a daemon, modules or network mirrors need", () => {
    for (const name of ["Metrics", "ModuleMirror", "LearntDigests", "Outbox"])
      expect(listMade("")).not.toContain(name);
    const loaded = [...ran.keys()];
    expect(loaded).toContain("main.ts");
    expect(loaded.filter((path) => /prom-client|koa/.test(path))).toEqual([]);
  });
});
