import { createHash } from "node:crypto";
import { mkdir, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { runHash } from "../../../src/commands/packages/hash.ts";
import { expectDocument } from "../documents.ts";
import { zipBytes } from "../../verification/archives/zip-bytes.ts";

const limits = { entries: 4096, expandedBytes: 2 ** 33, ratio: 200 };
const provider = zipBytes([
  {
    name: "terraform-provider-null_v1.0.0_x5",
    content: "#!/bin/sh\n",
    deflate: true,
  },
]);
// Written into a lock file by terraform for this archive; see the tests of package-hash.
const h1 = "h1:GzJcE5moubFlsRsYOQLhnbnOrNkehqzPUqwYT/Z9c6w=";
const withDirectory = zipBytes([{ name: "a/", content: "" }]);

let directory: string;
let paths: Record<"good" | "unhashable" | "missing" | "folder", string>;
beforeAll(async () => {
  directory = await mkdtemp(join(tmpdir(), "hash-command-"));
  paths = {
    good: join(directory, "good.zip"),
    unhashable: join(directory, "unhashable.zip"),
    missing: join(directory, "missing.zip"),
    folder: join(directory, "folder"),
  };
  await writeFile(paths.good, provider);
  await writeFile(paths.unhashable, withDirectory);
  await mkdir(paths.folder);
});
afterAll(() => rm(directory, { recursive: true }));

async function run(archive: readonly string[], json = false) {
  const said = { stdout: "", stderr: "" };
  const status = await runHash(
    { archive, json, limits },
    {
      stdout: (text) => (said.stdout += text),
      stderr: (text) => (said.stderr += text),
    },
  );
  return { status, ...said };
}

function zhOf(bytes: Buffer): string {
  return `zh:${createHash("sha256").update(bytes).digest("hex")}`;
}

test("prints the h1 and the zh of an archive, each on a line with its path", async () => {
  expect(await run([paths.good])).toEqual({
    status: 0,
    stdout: `${h1}  ${paths.good}\n${zhOf(provider)}  ${paths.good}\n`,
    stderr: "",
  });
});

test("names what it cannot hash on standard error, and goes on", async () => {
  const { missing, folder, unhashable, good } = paths;
  const { status, stdout, stderr } = await run([
    missing,
    folder,
    unhashable,
    good,
  ]);
  expect(status).toBe(1);
  expect(stdout.split("\n")).toEqual([
    `${zhOf(withDirectory)}  ${unhashable}`,
    `${h1}  ${good}`,
    `${zhOf(provider)}  ${good}`,
    "",
  ]);
  const problems = stderr.split("\n");
  expect(problems).toHaveLength(4);
  expect(problems[0]).toContain(`${missing} cannot be read (ENOENT`);
  expect(problems[1]).toContain(`${folder} cannot be read (it is not a file)`);
  expect(problems[2]).toBe(
    `${unhashable} has no h1 (it has an entry for a directory): put only its zh: into a lock file.`,
  );
});

test("prints one JSON document when asked to", async () => {
  const { missing, unhashable, good } = paths;
  const { status, stdout, stderr } = await run(
    [good, unhashable, missing],
    true,
  );
  expect(status).toBe(1);
  expect(expectDocument("hash", stdout)).toEqual({
    version: 1,
    archives: [
      { archive: good, h1, zh: zhOf(provider) },
      {
        archive: unhashable,
        h1: null,
        zh: zhOf(withDirectory),
        problem: expect.stringContaining("entry for a directory") as string,
      },
      {
        archive: missing,
        h1: null,
        zh: null,
        problem: expect.stringContaining("give the path") as string,
      },
    ],
  });
  expect(stderr.split("\n")).toHaveLength(3);
});

test("holds the limits that it is given", async () => {
  const said = { stderr: "" };
  const status = await runHash(
    { archive: [paths.good], json: true, limits: { ...limits, entries: 0 } },
    { stdout: () => undefined, stderr: (text) => (said.stderr += text) },
  );
  expect(status).toBe(1);
  expect(said.stderr).toContain("more than 0 entries");
});
