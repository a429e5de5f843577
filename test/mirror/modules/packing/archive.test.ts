import { existsSync, writeFileSync } from "node:fs";
import { mkdir, rename } from "node:fs/promises";
import { join } from "node:path";
import { Readable } from "node:stream";
import { buffer } from "node:stream/consumers";
import { createGunzip } from "node:zlib";
import { extract } from "tar-stream";
import { describe, expect, it } from "vitest";
import {
  checkOut,
  NotPackable,
  writeArchive,
} from "../../../../src/mirror/modules/packing/archive.ts";
import type { PackLimits } from "../../../../src/mirror/modules/packing/budget.ts";
import {
  GitFailed,
  withoutRemote,
} from "../../../../src/origin/git/git-process.ts";
import { GitRepository } from "../../../fakes/git-http.ts";
import { scratch } from "../../../running-mirror.ts";

const limits: PackLimits = { entries: 20, expandedBytes: 1_000 };
const { signal } = new AbortController();

type Files = Parameters<GitRepository["commit"]>[0];

async function commit(files: Files) {
  const folder = scratch("packed");
  const repository = await GitRepository.create(join(folder, "work"));
  const id = await repository.commit(files);
  return { folder, repository, id };
}

/** Checks out as after a fetch: the folder has git's own and nothing else. */
async function checkOutFrom(
  { folder, id }: { readonly folder: string; readonly id: string },
  hold: (bytes: number) => Promise<void> = () => Promise.resolve(),
) {
  const own = join(folder, "repository.git");
  await rename(join(folder, "work", ".git"), own);
  await mkdir(join(folder, "home"), { recursive: true });
  const bounds = { memory: 2 ** 29, seconds: 30, bytes: 2 ** 24, files: 1_000 };
  const place = { folder, path: process.env.PATH ?? "", bounds };
  return checkOut(withoutRemote(place, signal), id, limits, hold);
}

async function pack(files: Files): Promise<Buffer> {
  const checkedOut = await checkOutFrom(await commit(files));
  return buffer(Readable.from(writeArchive(checkedOut, signal)));
}

const content: Files = {
  ".gitattributes": "*.tf text eol=crlf ident\n*.md export-ignore\n",
  "b.tf": "# $Id$\n",
  "README.md": "",
  "a/run.sh": { program: "#!/bin/sh\n" },
  [`${"long/".repeat(30)}é.tf`]: "# long\n",
  link: { link: "b.tf" },
};

describe("an archive of a commit", () => {
  it("has names in order, no times, and contents as they were committed", async () => {
    const bytes = await pack(content);
    const reader = Readable.from([bytes]).pipe(createGunzip()).pipe(extract());
    const found: unknown[] = [];
    for await (const entry of reader) {
      const { name, mode, mtime, uid, uname } = entry.header;
      const text = (await buffer(entry)).toString();
      found.push([name, mode, mtime.getTime(), uid, uname, text]);
    }
    const plain = (name: string, text: string, mode = 0o644) =>
      [name, mode, 0, 0, "", text] as const;
    expect(found).toEqual([
      plain(".gitattributes", content[".gitattributes"] as string),
      plain("README.md", ""),
      plain("a/run.sh", "#!/bin/sh\n", 0o755),
      plain("b.tf", "# $Id$\n"),
      plain("link", "# $Id$\n"),
      plain(`${"long/".repeat(30)}é.tf`, "# long\n"),
    ]);
  });

  it("has the same bytes each time", async () => {
    expect(await pack(content)).toEqual(await pack(content));
  });
});

describe("a checkout", () => {
  it("holds room for its files before there are any", async () => {
    const made = await commit({ "a.tf": "12345", "b/c.tf": "67", d: "67" });
    const held: [number, boolean][] = [];
    await checkOutFrom(made, (bytes) => {
      held.push([bytes, existsSync(join(made.folder, "contents"))]);
      return Promise.resolve();
    });
    expect(held).toEqual([[7, false]]);
  });

  it.each<[string, Files, string]>([
    ["more bytes", { a: "x".repeat(1_001) }, "more than 1000 bytes"],
    [
      "more files",
      Object.fromEntries(Array.from({ length: 21 }, (_, n) => [`f${n}`, ""])),
      "more than 20 members",
    ],
    ["a link out", { link: { link: "../x" } }, "is a link to"],
    ["a backslash", { "a\\b": "" }, 'a member is named "a\\\\b"'],
  ])("is refused for %s", async (_, files, reason) => {
    const made = await commit(files);
    await expect(checkOutFrom(made)).rejects.toThrow(reason);
  });

  it.each([
    ["100644", "..", RangeError],
    ["100644", ".", RangeError],
    ["100644", ".Git", RangeError],
    ["160000", "sub", NotPackable],
  ])("is refused for a member %s %s", async (mode, name, refusal) => {
    const made = await commitLine(mode, name, "HEAD:main.tf");
    await expect(checkOutFrom(made)).rejects.toThrow(refusal);
    expect(existsSync(join(made.folder, "contents"))).toBe(false);
  });

  it("is refused for a folder that is named as a file", async () => {
    const made = await commitLine("100644", "a", "HEAD^{tree}");
    await expect(checkOutFrom(made)).rejects.toThrow(GitFailed);
  });
});

/** A commit of one line, which git itself would not write. */
async function commitLine(mode: string, name: string, object: string) {
  const { folder, repository } = await commit({ "main.tf": "" });
  const id = await repository.git("rev-parse", object);
  const file = join(folder, "raw");
  const line = Buffer.from(`${mode} ${name}\0`);
  writeFileSync(file, Buffer.concat([line, Buffer.from(id, "hex")]));
  const write = ["hash-object", "-t", "tree", "-w", "--literally", file];
  const tree = await repository.git(...write);
  return {
    folder,
    id: await repository.git("commit-tree", "-m", "x", tree),
  };
}
