import { existsSync, writeFileSync } from "node:fs";
import { mkdir, rename } from "node:fs/promises";
import { join } from "node:path";
import { Readable } from "node:stream";
import { buffer } from "node:stream/consumers";
import { createGunzip } from "node:zlib";
import { extract } from "tar-stream";
import { describe, expect, it } from "vitest";
import {
  NotPackable,
  packCommit,
} from "../../../src/mirror/modules/git-packing.ts";
import { GitRepository } from "../../fakes/git-http.ts";
import { scratch } from "../../running-mirror.ts";

const { signal } = new AbortController();

type Files = Parameters<GitRepository["commit"]>[0];

interface Commit {
  readonly folder: string;
  readonly repository: GitRepository;
  readonly id: string;
}

async function commit(files: Files): Promise<Commit> {
  const folder = scratch("packed");
  const repository = await GitRepository.create(join(folder, "work"));
  const id = await repository.commit(files);
  return { folder, repository, id };
}

interface Options {
  readonly entries?: number;
  readonly expandedBytes?: number;
}

/** Packs as after a fetch: the folder has git's own and nothing else. */
async function pack(
  { folder, id }: Commit,
  { entries = 20, expandedBytes = 1_000 }: Options = {},
): Promise<Buffer> {
  const own = join(folder, "repository.git");
  await rename(join(folder, "work", ".git"), own);
  await mkdir(join(folder, "home"), { recursive: true });
  const bounds = { memory: 2 ** 29, seconds: 30, bytes: 2 ** 24, files: 1_000 };
  const limits = { entries, expandedBytes };
  const path = process.env.PATH ?? "";
  const checkout = {
    git: { folder, path, bounds, signal, remote: undefined },
    commit: id,
    room: { hold: () => Promise.resolve(), release: () => undefined },
    close: () => Promise.resolve(),
  };
  return buffer(Readable.from(packCommit("the module", checkout, limits)));
}

async function read(archive: Buffer) {
  const reader = Readable.from([archive]).pipe(createGunzip()).pipe(extract());
  const found = [];
  for await (const entry of reader) {
    const text = (await buffer(entry)).toString("latin1");
    found.push({ ...entry.header, text });
  }
  return found;
}

/** Contents by name. */
async function unpack(files: Files, options?: Options): Promise<object> {
  const found = await read(await pack(await commit(files), options));
  return Object.fromEntries(found.map(({ name, text }) => [name, text]));
}

const content: Files = {
  "b.tf": "# b\n",
  "README.md": "",
  "a/run.sh": { program: "#!/bin/sh\n" },
  [`${"long/".repeat(30)}é.tf`]: "# long\n",
  "Z.tf": "",
  link: { link: "b.tf" },
};

describe("an archive of a commit", () => {
  it("has names in the order of their bytes, no times and no owners", async () => {
    const found = await read(await pack(await commit(content)));
    const plain = (name: string, mode = 0o644) =>
      [name, "file", mode, 0, 0, ""] as const;
    expect(
      found.map(({ name, type, mode, mtime, uid, uname }) => [
        name,
        type,
        mode,
        mtime.getTime(),
        uid,
        uname,
      ]),
    ).toEqual([
      plain("README.md"),
      plain("Z.tf"),
      plain("a/run.sh", 0o755),
      plain("b.tf"),
      plain("link"),
      plain(`${"long/".repeat(30)}é.tf`),
    ]);
  });

  it("has the same bytes each time", async () => {
    const [one, other] = [await commit(content), await commit(content)];
    expect(await pack(one)).toEqual(await pack(other));
  });

  it("has the contents that a client's own checkout has, whatever the attributes say", async () => {
    const files: Files = {
      ".gitattributes":
        "*.ps1 text eol=crlf\n*.id ident\n*.utf working-tree-encoding=UTF-16LE\n*.md export-ignore\n*.sub export-subst\n*.lf text=auto eol=lf\n*.bin binary -filter\n[attr]dos text eol=crlf\n*.bat dos\n",
      "a.ps1": "one\ntwo\n",
      "a.id": "$Id$\n",
      "a.sub": "$Format:%H$\n",
      "a.md": "# kept\n",
      "a.bat": "one\n",
      "a.bin": "one\n\0",
      "below/.gitattributes": "*.ps1 -text\n",
      "below/a.ps1": "one\ntwo\n",
    };
    const made = await commit(files);
    const raw = await made.repository.git("rev-parse", "HEAD:a.id");
    const found = await read(await pack(made));
    const texts = Object.fromEntries(
      found.map(({ name, text }) => [name, text]),
    );
    expect(texts).toMatchObject({
      "a.ps1": "one\r\ntwo\r\n",
      "a.id": `$Id: ${raw} $\n`,
      "a.sub": "$Format:%H$\n",
      "a.md": "# kept\n",
      "a.bat": "one\r\n",
      "a.bin": "one\n\0",
      "below/a.ps1": "one\ntwo\n",
    });
  });

  it.each<[string, Files, object]>([
    ["no link below a file", { a: "1", l: { link: "a/b" } }, { a: "1" }],
    ["no link to nothing", { a: "1", l: { link: "b" } }, { a: "1" }],
    ["no link to itself", { a: "1", l: { link: "l" } }, { a: "1" }],
    [
      "no links in a circle",
      { a: "1", l: { link: "m" }, m: { link: "l" } },
      { a: "1" },
    ],
    [
      "no link to the folder that it lies in",
      { "d/a": "1", "d/l": { link: "." } },
      { "d/a": "1" },
    ],
    ["a backslash in a name", { "a\\b": "1" }, { "a\\b": "1" }],
  ])("has %s", async (_, files, expected) => {
    expect(await unpack(files)).toEqual(expected);
  });

  it("counts what links lead to each time", async () => {
    const files: Files = {
      ...{ "d/a": "1", "d/b": "2" },
      ...{ l: { link: "d" }, m: { link: "d" } },
    };
    expect(Object.keys(await unpack(files, { entries: 6 }))).toHaveLength(6);
    await expect(unpack(files, { entries: 5 })).rejects.toThrow(
      "more than 5 members",
    );
  });
});

describe("a commit", () => {
  it.each<[string, Files, string]>([
    ["more bytes", { a: "x".repeat(1_001) }, "more than 1000 bytes"],
    [
      "more bytes in its checkout",
      { ".gitattributes": "a text eol=crlf\n", a: "\n".repeat(600) },
      "more than 1000 bytes",
    ],
    [
      "more files",
      Object.fromEntries(Array.from({ length: 21 }, (_, n) => [`f${n}`, ""])),
      "more than 20 members",
    ],
    ["more to list", { [`${"folder-n/".repeat(60)}f`]: "" }, "says too much"],
    ["more folders", { [`${"d/".repeat(81)}f`]: "" }, "more than 80 files and"],
  ])(
    "with %s is refused before its archive begins",
    async (_, files, reason) => {
      await expect(unpack(files)).rejects.toThrow(reason);
    },
  );

  it("with a thousand links is refused", async () => {
    const names = Array.from({ length: 1_001 }, (_, n) => `l${n}`);
    const files = Object.fromEntries(
      names.map((name) => [name, { link: "a" }]),
    );
    const unpacked = unpack(files, { entries: 2_000, expandedBytes: 10_000 });
    await expect(unpacked).rejects.toThrow("more than 1000 links");
  });

  it.each([
    ["a filter", ".gitattributes", "*.bin filter=lfs diff=lfs -text\n"],
    ["a macro of one", "a/.gitattributes", "[attr]big filter=lfs\n* big\n"],
    ["one among others", "a/.gitattributes", "*.x -text\n* eol=lf\tfilter=x\n"],
    ["attributes of megabytes", ".gitattributes", "# x\n".repeat(300_000)],
  ])("with %s is for clients", async (_, name, text) => {
    const made = await commit({ [name]: text, "a/b.bin": "" });
    const packed = pack(made, { expandedBytes: 2 ** 22 });
    await expect(packed).rejects.toThrow(NotPackable);
  });

  // Git reads a device as a submodule.
  it.each(["160000", "020666"])(
    "with a submodule is for clients (%s)",
    async (mode) => {
      const made = await commitLine(mode, "sub", "HEAD:main.tf");
      await expect(pack(made)).rejects.toThrow(NotPackable);
      expect(existsSync(join(made.folder, "contents"))).toBe(false);
    },
  );

  it.each(["../../etc/passwd", "/etc/passwd"])(
    "with a link to %s is refused",
    async (link) => {
      await expect(unpack({ a: "1", l: { link } })).rejects.toMatchObject({
        code: "module-archive-refused",
      });
    },
  );

  it.each([
    ["100644", ".", "HEAD:main.tf"],
    ["100644", "", "HEAD:main.tf"],
    ["100644", "..", "HEAD:main.tf"],
    ["100644", "../evil.tf", "HEAD:main.tf"],
    ["100644", "/evil.tf", "HEAD:main.tf"],
    ["100644", ".git", "HEAD:main.tf"],
    ["100644", ".GIT", "HEAD:main.tf"],
    ["100644", "..\\evil.tf", "HEAD:main.tf"],
    ["100644", "a".repeat(100_000), "HEAD:main.tf"],
    ["100644", "a", "HEAD^{tree}"],
    ["40000", "a", "HEAD:main.tf"],
  ])("of a line %s %.20s %s is refused", async (mode, name, object) => {
    const made = await commitLine(mode, name, object);
    await expect(pack(made)).rejects.toMatchObject({
      code: "module-archive-refused",
    });
  });

  it("with a name that is not UTF-8 is refused", async () => {
    const made = await commitLine(
      "100644",
      Buffer.from([0xff]),
      "HEAD:main.tf",
    );
    await expect(pack(made)).rejects.toThrow("not UTF-8");
  });
});

/** A commit of one line, which git itself would not write. */
async function commitLine(
  mode: string,
  name: string | Buffer,
  object: string,
): Promise<Commit> {
  const { folder, repository } = await commit({ "main.tf": "" });
  const id = await repository.git("rev-parse", object);
  const file = join(folder, "raw");
  const line = [`${mode} `, name, "\0"].map((part) => Buffer.from(part));
  writeFileSync(file, Buffer.concat([...line, Buffer.from(id, "hex")]));
  const write = ["hash-object", "-t", "tree", "-w", "--literally", file];
  const tree = await repository.git(...write);
  return {
    folder,
    repository,
    id: await repository.git("commit-tree", "-m", "x", tree),
  };
}
