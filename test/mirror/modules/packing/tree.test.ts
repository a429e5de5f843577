import { renameSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { PackBudget } from "../../../../src/mirror/modules/packing/budget.ts";
import { listTree } from "../../../../src/mirror/modules/packing/tree.ts";
import { withoutRemote } from "../../../../src/origin/git/git-process.ts";
import { GitRepository } from "../../../fakes/git-http.ts";
import { scratch } from "../../../running-mirror.ts";

type Line = readonly [mode: string, name: string | Buffer];

interface Written {
  readonly repository: GitRepository;
  readonly folder: string;
  readonly tree: string;
}

/** Lines as they are, also those that git would not write; each names the same file. */
async function write(lines: readonly Line[]): Promise<Written> {
  const folder = scratch("tree");
  const repository = await GitRepository.create(join(folder, "work"));
  const file = join(folder, "file");
  writeFileSync(file, "# x");
  const blob = await repository.git("hash-object", "-w", file);
  const raw = lines.map(([mode, name]) =>
    Buffer.concat([
      Buffer.from(`${mode} `),
      Buffer.from(name),
      Buffer.from([0]),
      Buffer.from(blob, "hex"),
    ]),
  );
  writeFileSync(file, Buffer.concat(raw));
  const args = ["hash-object", "-t", "tree", "-w", "--literally", file];
  const tree = await repository.git(...args);
  return { repository, folder, tree };
}

async function list(lines: readonly Line[]) {
  const { repository, folder, tree } = await write(lines);
  const commit = await repository.git("commit-tree", "-m", "x", tree);
  // Git looks no further than the folder that it is given.
  renameSync(join(repository.folder, ".git"), join(folder, "repository.git"));
  const bounds = { memory: 2 ** 29, seconds: 30, bytes: 2 ** 24, files: 1_000 };
  const place = { folder, path: process.env.PATH ?? "", bounds };
  const budget = new PackBudget({ entries: 20, expandedBytes: 1_000 });
  const { signal } = new AbortController();
  return listTree(withoutRemote(place, signal), commit, budget);
}

describe("a commit's tree", () => {
  it("has files, programs, links and what git takes for submodules", async () => {
    const found = await list([
      ["100644", "a"],
      ["100664", "b"],
      ["100755", "c"],
      ["100700", "d"],
      ["120000", "e"],
      ["160000", "f"],
      ["020666", "g"],
      ["0", "h"],
    ]);
    expect(found.map(({ path, kind }) => [path, kind])).toEqual([
      ["a", "file"],
      ["b", "file"],
      ["c", "executable"],
      ["d", "executable"],
      ["e", "link"],
      ["f", "submodule"],
      ["g", "submodule"],
      ["h", "submodule"],
    ]);
  });

  it.each<[string, readonly Line[], string]>([
    [
      "a name twice",
      [
        ["100644", "a"],
        ["100755", "a"],
      ],
      '"a" twice',
    ],
    ["a path", [["100644", "a/b"]], 'named "a/b"'],
    ["an absolute path", [["100644", "/a"]], 'named "/a"'],
    [
      "a path below a file",
      [
        ["100644", "a"],
        ["100644", "a/b"],
      ],
      'named "a/b"',
    ],
    ["no name", [["100644", ""]], "empty filename"],
    [
      "a name that is not UTF-8",
      [["100644", Buffer.from([0xff])]],
      "not UTF-8",
    ],
    ["a type of letters", [["file", "a"]], "malformed mode"],
    ["a file for a folder", [["40000", "a"]], "not a tree"],
    ["a name without end", [["100644", "a".repeat(1_000_000)]], "64 KiB"],
  ])("may not have %s", async (_, lines, fault) => {
    await expect(list(lines)).rejects.toThrow(fault);
  });
});
