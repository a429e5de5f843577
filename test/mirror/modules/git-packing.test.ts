import { existsSync, writeFileSync } from "node:fs";
import { mkdir, rename } from "node:fs/promises";
import { join } from "node:path";
import { Readable } from "node:stream";
import { buffer } from "node:stream/consumers";
import { expect, it } from "vitest";
import {
  NotPackable,
  packCommit,
} from "../../../src/mirror/modules/git-packing.ts";
import { readTarGz, unpack } from "../../fakes/module-archive.ts";
import { GitRepository } from "../../fakes/git-http.ts";
import { scratch } from "../../running-mirror.ts";
import { failing } from "../../scenes/failing.ts";

type Files = Parameters<GitRepository["commit"]>[0];
type Commit = Awaited<ReturnType<typeof commit>>;

async function commit(files: Files) {
  const folder = scratch("packed");
  const repository = await GitRepository.create(join(folder, "work"));
  return { folder, repository, id: await repository.commit(files) };
}

/** A commit of one line, which git itself would not write. */
async function commitLine(
  mode: string,
  name: string | Buffer,
  object = "HEAD:main.tf",
): Promise<Commit> {
  const { folder, repository } = await commit({ "main.tf": "" });
  const id = await repository.git("rev-parse", object);
  const file = join(folder, "raw");
  const line = [`${mode} `, name, "\0"].map((part) => Buffer.from(part));
  writeFileSync(file, Buffer.concat([...line, Buffer.from(id, "hex")]));
  const write = ["hash-object", "-t", "tree", "-w", "--literally", file];
  const tree = await repository.git(...write);
  const made = await repository.git("commit-tree", "-m", "x", tree);
  return { folder, repository, id: made };
}

/** Packs as after a fetch: the folder has git's own and nothing else. */
async function pack(made: Commit | Promise<Commit>, bounds: object = {}) {
  const { folder, id } = await made;
  const own = join(folder, "repository.git");
  await rename(join(folder, "work", ".git"), own);
  await mkdir(join(folder, "home"), { recursive: true });
  const git = {
    ...{ folder, path: process.env.PATH ?? "", remote: undefined },
    bounds: { memory: 2 ** 29, seconds: 30, bytes: 2 ** 24, files: 1_000 },
    signal: new AbortController().signal,
  };
  const room = { hold: () => Promise.resolve(), release: () => undefined };
  const checkout = { git, commit: id, room, close: () => Promise.resolve() };
  const limits = { entries: 20, expandedBytes: 1_000, ...bounds };
  return buffer(Readable.from(packCommit("the module", checkout, limits)));
}

it("an archive of a commit has names in the order of their bytes, no times and no owners, and the same bytes each time", async () => {
  const long = `${"long/".repeat(30)}é.tf`;
  const files: Files = {
    "b.tf": "# b\n",
    "README.md": "",
    "a/run.sh": { program: "#!/bin/sh\n" },
    [long]: "# long\n",
    "Z.tf": "",
    link: { link: "b.tf" },
  };
  const archive = await pack(commit(files));
  const names = ["README.md", "Z.tf", "a/run.sh", "b.tf", "link", long];
  const told = (await readTarGz(archive)).map(
    ({ name, type, mode, mtime, uid, uname }) =>
      [name, type, mode, mtime.getTime(), uid, uname] as const,
  );
  expect(told).toEqual(
    names.map((name) => {
      const mode = name.endsWith(".sh") ? 0o755 : 0o644;
      return [name, "file", mode, 0, 0, ""];
    }),
  );
  expect(await pack(commit(files))).toEqual(archive);
});

it("an archive of a commit has the contents that a client's own checkout has, whatever the attributes say", async () => {
  const made = await commit({
    ".gitattributes":
      "*.ps1 text eol=crlf\n*.id ident\n*.md export-ignore\n*.sub export-subst\n*.bin binary -filter\n[attr]dos text eol=crlf\n*.bat dos\n",
    "a.ps1": "one\ntwo\n",
    "a.id": "$Id$\n",
    "a.sub": "$Format:%H$\n",
    "a.md": "# kept\n",
    "a.bat": "one\n",
    "a.bin": "one\n\0",
    "below/.gitattributes": "*.ps1 -text\n",
    "below/a.ps1": "one\ntwo\n",
  });
  const raw = await made.repository.git("rev-parse", "HEAD:a.id");
  expect(await unpack(await pack(made))).toMatchObject({
    "a.ps1": "one\r\ntwo\r\n",
    "a.id": `$Id: ${raw} $\n`,
    "a.sub": "$Format:%H$\n",
    "a.md": "# kept\n",
    "a.bat": "one\r\n",
    "a.bin": "one\n\0",
    "below/a.ps1": "one\ntwo\n",
  });
});

it.each<[string, Files]>([
  ["below a file", { l: { link: "a/b" } }],
  ["to nothing", { l: { link: "b" } }],
  ["to itself", { l: { link: "l" } }],
  ["in a circle", { l: { link: "m" }, m: { link: "l" } }],
  ["to the folder that it lies in", { l: { link: "." } }],
])("an archive of a commit has no link %s", async (_, links) => {
  const files = { a: "1", "b\\c": "2" };
  const made = commit({ ...files, ...links });
  expect(await unpack(await pack(made))).toEqual(files);
});

it("what links lead to counts each time", async () => {
  const files: Files = {
    ...{ "d/a": "1", "d/b": "2" },
    ...{ l: { link: "d" }, m: { link: "d" } },
  };
  const archive = await pack(commit(files), { entries: 6 });
  expect(await readTarGz(archive)).toHaveLength(6);
  const packed = pack(commit(files), { entries: 5 });
  await expect(packed).rejects.toThrow("more than 5 members");
});

const many = (count: number, content: Files[string]): Files =>
  Object.fromEntries(Array.from({ length: count }, (_, n) => [n, content]));

it.each<[string, Files, object, string]>([
  ["more bytes", { a: "x".repeat(1_001) }, {}, "more than 1000 bytes"],
  [
    "more bytes in its checkout",
    { ".gitattributes": "a text eol=crlf\n", a: "\n".repeat(600) },
    {},
    "more than 1000 bytes",
  ],
  ["more files", many(21, ""), {}, "more than 20 members"],
  ["more to list", { [`${"folder-n/".repeat(60)}f`]: "" }, {}, "too much"],
  ["more folders", { [`${"d/".repeat(81)}f`]: "" }, {}, "more than 80 files"],
  [
    "more links",
    many(1_001, { link: "a" }),
    { entries: 2_000, expandedBytes: 10_000 },
    "more than 1000 links",
  ],
  ["a link that climbs out", { l: { link: "../../x" } }, {}, "is a link to"],
  ["a link to a path", { l: { link: "/etc/passwd" } }, {}, "is a link to"],
])("a commit with %s is refused", async (_, files, bounds, reason) => {
  await expect(pack(commit(files), bounds)).rejects.toThrow(reason);
});

it.each([
  ["a filter", ".gitattributes", "*.bin filter=lfs diff=lfs -text\n"],
  ["a macro of one", "a/.gitattributes", "[attr]big filter=lfs\n* big\n"],
  ["attributes of megabytes", ".gitattributes", "# x\n".repeat(300_000)],
])("a commit with %s is for clients", async (_, name, text) => {
  const made = commit({ [name]: text, "a/b.bin": "" });
  const packed = pack(made, { expandedBytes: 4e6 });
  await expect(packed).rejects.toThrow(NotPackable);
});

// Git reads a device as a submodule.
it.each(["160000", "020666"])(
  "a commit with a submodule is for clients (%s)",
  async (mode) => {
    const made = await commitLine(mode, "sub");
    await expect(pack(made)).rejects.toThrow(NotPackable);
    expect(existsSync(join(made.folder, "contents"))).toBe(false);
  },
);

it.each<[mode: string, name: string | Buffer, object?: string]>([
  ["100644", "."],
  ["100644", ""],
  ["100644", "../evil.tf"],
  ["100644", "/evil.tf"],
  ["100644", ".GIT"],
  ["100644", "..\\evil.tf"],
  ["100644", "a".repeat(100_000)],
  ["100644", Buffer.from([0xff])],
  ["100644", "a", "HEAD^{tree}"],
  ["40000", "a"],
])("a commit of a line %s %.20s %s is refused", async (...line) => {
  const packed = pack(commitLine(...line));
  await expect(packed).rejects.toThrow(failing("module-archive-refused"));
});
