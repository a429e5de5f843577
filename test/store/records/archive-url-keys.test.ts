import { describe, expect, it } from "vitest";
import { ArchiveUrlKeys } from "../../../src/store/records/archive-url-keys.ts";
import { askDatabase, makeLayout, openRecords } from "../stores.ts";

const day = 24 * 60 * 60 * 1000;
const start = new Date("2026-01-01T00:00:00Z");
const after = (days: number) => new Date(start.getTime() + days * day);

function texts(keys: ArchiveUrlKeys): readonly string[] {
  return keys.secrets.map((secret) => secret.toString("hex"));
}

describe("the keys of archive URLs", () => {
  it("are made once for a database, of 32 random bytes", async () => {
    const records = openRecords(await makeLayout());
    const made = await ArchiveUrlKeys.open(records, start);
    expect(made.secrets.map((secret) => secret.length)).toEqual([32]);
    const again = await ArchiveUrlKeys.open(records, after(1));
    expect(texts(again)).toEqual(texts(made));
    const others = openRecords(await makeLayout());
    const other = await ArchiveUrlKeys.open(others, start);
    expect(texts(other)).not.toEqual(texts(made));
  });

  it("sign for 30 days and are kept for 30 more beside the next one", async () => {
    const records = openRecords(await makeLayout());
    const keys = await ArchiveUrlKeys.open(records, start);
    const [first] = texts(keys);
    await keys.renew(after(29));
    expect(texts(keys)).toEqual([first]);
    await keys.renew(after(30));
    const [, second] = texts(keys);
    // The new one signs once all have read it.
    expect(texts(keys)).toEqual([first, second]);
    expect(second).not.toBe(first);
    await keys.renew(after(31));
    expect(texts(keys)).toEqual([second, first]);
    const opened = await ArchiveUrlKeys.open(records, after(31));
    expect(texts(opened)).toEqual(texts(keys));
    await keys.renew(after(60));
    await keys.renew(after(61));
    const [third] = texts(keys);
    expect(texts(keys)).toEqual([third, second]);
  });

  it.each(["{}", '{"keys":[]}', '{"keys":[{"secret":"short"}]}'])(
    "are made again when the record holds %j",
    async (body) => {
      const layout = await makeLayout();
      const records = openRecords(layout);
      const [lost] = texts(await ArchiveUrlKeys.open(records, start));
      askDatabase(layout, "UPDATE secrets SET body = ? RETURNING 1", body);
      const keys = await ArchiveUrlKeys.open(records, start);
      expect(keys.secrets).toHaveLength(1);
      expect(texts(keys)).not.toContain(lost);
    },
  );

  it("never sign with one that another daemon has not read, also after a restart", async () => {
    const records = openRecords(await makeLayout());
    const later = (seconds: number) =>
      new Date(after(31).getTime() + seconds * 1000);
    const open = (now: Date) => ArchiveUrlKeys.open(records, now);
    const daemons = [await open(start), await open(start), await open(start)];
    const [[first = ""] = []] = daemons.map(texts);
    const signed: string[] = [];
    // Each looks every 30 s, one after the other.
    for (let second = 0; second <= 120; second += 10) {
      await daemons[(second / 10) % 3]?.renew(later(second));
      const secrets = daemons.map(texts);
      for (const [signs = ""] of secrets) {
        expect(secrets.every((known) => known.includes(signs))).toBe(true);
        signed.push(signs);
      }
      if (second === 30)
        expect(texts(await open(later(second)))[0]).toBe(first);
    }
    expect(new Set(signed).size).toBe(2);
    const last = new Set(daemons.map((one) => texts(one)[0]));
    expect(last).toHaveLength(1);
    expect(last).not.toContain(first);
  });
});
