import { expect, it } from "vitest";
import { openArchiveUrlKey } from "../../../src/store/records/archive-url-key.ts";
import { askDatabase, makeLayout, openRecords } from "../stores.ts";

it("the key of archive URLs is made once for a database, of 32 random bytes", async () => {
  const layout = await makeLayout();
  const daemons = [1, 2, 3].map(() => openRecords(layout));
  const keys = await Promise.all(daemons.map(openArchiveUrlKey));
  const [first] = keys;
  expect(first).toHaveLength(32);
  expect(keys).toEqual([first, first, first]);
  expect(await openArchiveUrlKey(openRecords(layout))).toEqual(first);
  const other = openRecords(await makeLayout());
  expect(await openArchiveUrlKey(other)).not.toEqual(first);
});

it.each([
  ["was deleted", "DELETE FROM secrets RETURNING 1"],
  ["is of another form", "UPDATE secrets SET body = '{}' RETURNING 1"],
  ["is short", `UPDATE secrets SET body = '{"secret":"short"}' RETURNING 1`],
])("the key of archive URLs is made again where it %s", async (_, damage) => {
  const layout = await makeLayout();
  const records = openRecords(layout);
  const lost = await openArchiveUrlKey(records);
  expect(askDatabase(layout, damage)).toHaveLength(1);
  const made = await openArchiveUrlKey(records);
  expect(made).toHaveLength(32);
  expect(made).not.toEqual(lost);
  expect(await openArchiveUrlKey(records)).toEqual(made);
});
