import {
  existsSync,
  linkSync,
  mkdirSync,
  readdirSync,
  renameSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { basename, dirname, join, relative } from "node:path";
import { expect, it } from "vitest";
import {
  expectOutside,
  listStored,
  makeFolder,
} from "../../../src/mirror/bundles/export-tree.ts";
import { blobPath, layOutStore } from "../../../src/store/layout.ts";
import type { Sha256 } from "../../../src/address/hash.ts";
import { scratch } from "../../running-mirror.ts";
import { startOrigin } from "../../scenes/world.ts";
import { connectedSite } from "./bundles.ts";

const storage = join(scratch("storage"), "store");
const layout = layOutStore(storage);

/** Every path that the layout of a storage directory knows, and some that it does not. */
const kinds = [
  ...Object.values(layout).flatMap((path: string | object) =>
    typeof path === "string" ? [path] : (Object.values(path) as string[]),
  ),
  blobPath(layout, "ab".repeat(32) as Sha256),
  ...["provender.db", "provender.db-wal", "new", "new/deep/er"].map((below) =>
    join(storage, below),
  ),
];

/** Ways to name a path; `links` is a folder outside. */
const ways: Readonly<
  Record<string, (path: string, links: string) => string | undefined>
> = {
  "with dots": (path) => join(path, "x") + "/..//.",
  "through a link to the storage directory": (path, links) => {
    symlinkSync(storage, join(links, "storage"));
    return join(links, "storage", relative(storage, path));
  },
  "through a link to a link": (path, links) => {
    symlinkSync(path, join(links, "direct"));
    symlinkSync("direct", join(links, "indirect"));
    return join(links, "indirect");
  },
  "as another name of its file": (path, links) => {
    if (!existsSync(path) || !statSync(path).isFile()) return undefined;
    linkSync(path, join(links, "hard.tar"));
    return join(links, "hard.tar");
  },
  "below a link to it": (path, links) => {
    symlinkSync(path, join(links, "above"));
    return join(links, "above", "registry.terraform.io");
  },
};

// Half of them are there, as files or as folders.
for (const path of kinds.filter((_, index) => index % 2 === 0)) {
  mkdirSync(dirname(path), { recursive: true });
  if (/\.[a-z]+$/.test(path)) writeFileSync(path, "kept");
  else mkdirSync(path, { recursive: true });
}

it.each(Object.entries(ways))(
  "nothing is written to any path of the storage directory: %s",
  async (_, name) => {
    const stored = await listStored(storage);
    const before = readdirSync(storage, { recursive: true }).toSorted();
    for (const path of kinds) {
      const named = name(path, scratch("links"));
      if (named === undefined) continue;
      const written = await Promise.allSettled([
        expectOutside(stored, named),
        makeFolder(named, ["a"], stored),
        // As a folder of a tree that begins above.
        makeFolder(dirname(named), [basename(named)], stored),
      ]);
      for (const one of written)
        expect(one, named).toMatchObject({ reason: { code: "export-failed" } });
    }
    expect(readdirSync(storage, { recursive: true }).toSorted()).toEqual(
      before,
    );
  },
);

it("nothing is written to a part of the storage directory under another name, as a mount of it has", async () => {
  const stored = await listStored(storage);
  const parts = readdirSync(storage, { recursive: true, encoding: "utf8" });
  for (const part of parts) {
    const elsewhere = join(scratch("mounted"), "here");
    // Only root mounts folders: one that was moved is itself, too.
    renameSync(join(storage, part), elsewhere);
    const isFolder = statSync(elsewhere).isDirectory();
    for (const below of isFolder ? ["", "a.tar", "a/b"] : [""])
      await expect(
        expectOutside(stored, join(elsewhere, below)),
        `${part} ${below}`,
      ).rejects.toThrow("(it is in the storage directory)");
    renameSync(elsewhere, join(storage, part));
  }
});

it("what only looks like it is written", async () => {
  const stored = await listStored(storage);
  const beside = `${storage}-of-others`;
  await expectOutside(stored, beside);
  const folder = await makeFolder(dirname(storage), ["tree", "a"], stored);
  expect(folder).toBe(join(dirname(storage), "tree", "a"));
  // Another one, unless the file system takes no notice of capitals.
  const capitals = join(dirname(storage), "STORE");
  if (!existsSync(capitals)) await expectOutside(stored, capitals);
  else await expect(expectOutside(stored, capitals)).rejects.toThrow();
  const links = scratch("links");
  symlinkSync(links, join(links, "here"));
  await expectOutside(stored, join(links, "here", "tree"));
});

it("the command refuses to write to any place in its storage directory", async () => {
  const { authority, registry } = await startOrigin();
  await registry.publish({ version: "1.0.0" });
  const site = connectedSite(authority, registry);
  await site.run("prefetch", "acme/widget@1.0.0");
  const before = site.snapshot();
  const places = ["blobs", "blobs/new", "provender.db", "a.tar", "blobs/a.oci"];
  for (const place of places) {
    const to = ["--to", join(site.directory, place)];
    const ran = await site.run("export", ...to, "acme/widget@1.0.0");
    expect(ran.stderr).toContain("(it is in the storage directory)");
    expect(ran.status).toBe(1);
  }
  expect(site.snapshot()).toEqual(before);
});
