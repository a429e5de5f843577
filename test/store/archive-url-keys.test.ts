import { chmod, readFile, stat, writeFile } from "node:fs/promises";
import { describe, expect, it } from "vitest";
import { failure } from "../../src/errors/index.ts";
import { ArchiveUrlKeys } from "../../src/store/archive-url-keys.ts";
import { layOutStore, type StoreLayout } from "../../src/store/layout.ts";
import { prepareStorageDirectory } from "../../src/store/storage-directory.ts";
import { scratch } from "../running-mirror.ts";
import { openRecords } from "./stores.ts";

const day = 24 * 60 * 60 * 1000;
const start = new Date("2026-01-01T00:00:00Z");
const after = (days: number) => new Date(start.getTime() + days * day);

async function makeLayout(): Promise<StoreLayout> {
  const layout = layOutStore(scratch("keys"));
  await prepareStorageDirectory(layout);
  return layout;
}

function texts(keys: ArchiveUrlKeys): readonly string[] {
  return keys.secrets.map((secret) => secret.toString("hex"));
}

describe("the keys of archive URLs", () => {
  it("are made once, of 32 random bytes, for the owner's eyes alone", async () => {
    const layout = await makeLayout();
    const made = await ArchiveUrlKeys.open(layout, start);
    expect(made.secrets.map((secret) => secret.length)).toEqual([32]);
    const { mode } = await stat(layout.archiveUrlKeys);
    expect(mode & 0o777).toBe(0o600);
    const again = await ArchiveUrlKeys.open(layout, after(1));
    expect(texts(again)).toEqual(texts(made));
    const other = await ArchiveUrlKeys.open(await makeLayout(), start);
    expect(texts(other)).not.toEqual(texts(made));
  });

  it("sign for 30 days and are kept for 30 more beside the next one", async () => {
    const layout = await makeLayout();
    const keys = await ArchiveUrlKeys.open(layout, start);
    const [first] = texts(keys);
    await keys.renew(after(29), day);
    expect(texts(keys)).toEqual([first]);
    await keys.renew(after(30), day);
    const [second] = texts(keys);
    expect(texts(keys)).toEqual([second, first]);
    expect(second).not.toBe(first);
    expect(texts(await ArchiveUrlKeys.open(layout, after(31)))).toEqual(
      texts(keys),
    );
    await keys.renew(after(60), day);
    const [third] = texts(keys);
    expect(texts(keys)).toEqual([third, second]);
  });

  it.each(["", "{", '{"keys":[]}', '{"keys":[{"secret":"short"}]}'])(
    "are made again when the file holds %j",
    async (text) => {
      const layout = await makeLayout();
      const [lost] = texts(await ArchiveUrlKeys.open(layout, start));
      await writeFile(layout.archiveUrlKeys, text);
      const keys = await ArchiveUrlKeys.open(layout, start);
      expect(keys.secrets).toHaveLength(1);
      expect(texts(keys)).not.toContain(lost);
    },
  );

  it("are refused when others can read them, without being shown", async () => {
    const layout = await makeLayout();
    await ArchiveUrlKeys.open(layout, start);
    await chmod(layout.archiveUrlKeys, 0o640);
    const { message } = await ArchiveUrlKeys.open(layout, start).then(
      () => new Error("opened"),
      (error: unknown) => error as Error,
    );
    expect(message).toContain("others can read it: chmod 600");
    const text = await readFile(layout.archiveUrlKeys, "utf8");
    const [, secret = ""] = /"secret":"([^"]+)"/.exec(text) ?? [];
    expect(message).not.toContain(secret);
  });
});

/** Replicas read the shared keys every 30 s; `shared` stands for the bucket. */
describe("the keys of archive URLs of replicas", () => {
  const later = (seconds: number) =>
    new Date(after(31).getTime() + seconds * 1000);

  it.each([
    failure(
      "record-unreadable",
      "records/v1/auth/archive-url-keys.json",
      "it is cut",
      "restore it",
    ),
    failure("bucket-unreachable", "keys", "ECONNREFUSED"),
    failure("bucket-refuses", "keys", "be written", 403, "AccessDenied"),
  ])(
    "are refused with the bucket's own word, and no advice about the directory: $code",
    async (problem) => {
      const shared = { change: () => Promise.reject(problem) };
      const opened = ArchiveUrlKeys.open(await makeLayout(), start, shared);
      await expect(opened).rejects.toBe(problem);
    },
  );

  it("never sign with one that another replica has not seen, also after a restart", async () => {
    const shared = openRecords(await makeLayout());
    const own = await makeLayout();
    const layouts = [own, await makeLayout(), await makeLayout()];
    const open = (layout: StoreLayout, now: Date) =>
      ArchiveUrlKeys.open(layout, now, shared);
    const replicas = await Promise.all(layouts.map((one) => open(one, start)));
    const [[first = ""] = []] = replicas.map(texts);
    const signed: string[] = [];
    // Each looks every 30 s, one after the other.
    for (let second = 0; second <= 120; second += 10) {
      const index = (second / 10) % 3;
      await replicas[index]?.renew(later(second), day);
      const secrets = replicas.map(texts);
      for (const [signs = ""] of secrets) {
        expect(secrets.every((known) => known.includes(signs))).toBe(true);
        signed.push(signs);
      }
      if (second === 30) {
        const unreachable = { change: () => Promise.reject(new Error("gone")) };
        const again = await ArchiveUrlKeys.open(
          own,
          later(second),
          unreachable,
        );
        expect(texts(again)[0]).toBe(first);
      }
    }
    expect(new Set(signed).size).toBe(2);
    const last = new Set(replicas.map((one) => texts(one)[0]));
    expect(last).toHaveLength(1);
    expect(last).not.toContain(first);
  });
});
