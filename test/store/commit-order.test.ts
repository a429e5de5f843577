import { spawnSync } from "node:child_process";
import { mkdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { describe, expect, it } from "vitest";
import { scratch } from "../running-mirror.ts";

const commits = 200;
const source = join(import.meta.dirname, "..", "..", "src", "store");
const hrefOf = (name: string) => pathToFileURL(join(source, name)).href;

const canTrace = spawnSync("strace", ["-o", "/dev/null", "true"]).status === 0;
if (!canTrace)
  console.log(
    "SKIPPED: strace cannot be used here, so no order of calls is seen",
  );

/** Stores archives and then their records, as a process of its own. */
function script(folder: string): string {
  return `
    const { layOutStore } = await import(${JSON.stringify(hrefOf("layout.ts"))});
    const { prepareStorageDirectory } = await import(${JSON.stringify(hrefOf("storage-directory.ts"))});
    const { BlobStore } = await import(${JSON.stringify(hrefOf("blobs/blob-store.ts"))});
    const { DiskRecords } = await import(${JSON.stringify(hrefOf("records/disk-records.ts"))});
    const layout = layOutStore(${JSON.stringify(folder)});
    await prepareStorageDirectory(layout);
    const blobs = new BlobStore(layout);
    const records = new DiskRecords(layout);
    for (let n = 0; n < ${commits}; n++) {
      const spool = await blobs.createSpool();
      await spool.append(Buffer.from("archive " + n));
      const sha256 = spool.digest();
      await blobs.commit(spool, sha256);
      await spool.release();
      await records.write(["package-hashes", sha256.slice(0, 2), sha256], { n });
    }`;
}

/** The calls that change names or make them last, in order, as "NAME FROM [TO]" below the folder. */
function trace(folder: string): readonly string[] {
  const log = join(folder, "trace");
  const store = join(folder, "store");
  mkdirSync(store);
  const ran = spawnSync(
    "strace",
    [
      ...["-f", "-y", "-o", log, "-e", "trace=fsync,rename,renameat2"],
      ...[process.execPath, "--input-type=module", "-e", script(store)],
    ],
    // Calls by way of io_uring are not seen, and more threads would cut lines in two.
    {
      encoding: "utf8",
      env: {
        PATH: process.env.PATH,
        UV_USE_IO_URING: "0",
        UV_THREADPOOL_SIZE: "1",
      },
    },
  );
  if (ran.status !== 0) throw new Error(ran.stderr);
  return readFileSync(log, "utf8")
    .split("\n")
    .filter((line) => line.includes(store))
    .map((line) => {
      const [, name = ""] = /(\w+)\(/.exec(line) ?? [];
      const paths = [...line.matchAll(/[<"]([^<>"]*\/store[^<>"]*)[>"]/g)];
      const below = paths.map(([, path = ""]) => path.slice(store.length + 1));
      return [name, ...below].join(" ");
    });
}

describe("the order of a commit", () => {
  it.runIf(canTrace)(
    `is fsync of the file, rename, fsync of its folder, record, for each of ${commits}`,
    { timeout: 120_000 },
    () => {
      const calls = trace(scratch("order"));
      const renames = calls
        .map((call, at) => ({ at, words: call.split(" ") }))
        .filter(({ words }) => (words[0] ?? "").startsWith("rename"));
      const archives = renames.filter(({ words }) =>
        words[2]?.startsWith("blobs/"),
      );
      expect(archives).toHaveLength(commits);
      for (const { at, words } of archives) {
        const [, staged = "", final = ""] = words;
        const folder = final.slice(0, final.lastIndexOf("/"));
        const sha256 = final.slice(folder.length + 1);
        const synced = calls.indexOf(`fsync ${staged}`);
        const folderSynced = calls.indexOf(`fsync ${folder}`, at);
        const recorded = renames.find(({ words: [, , to = ""] }) =>
          to.endsWith(`${sha256}.json`),
        );
        expect(synced).toBeGreaterThanOrEqual(0);
        expect(synced).toBeLessThan(at);
        expect(folderSynced).toBeGreaterThan(at);
        expect(recorded?.at).toBeGreaterThan(folderSynced);
      }
      console.log(`${archives.length} commits in order, 0 out of order`);
    },
  );
});
