import { expect, it } from "vitest";
import { failure } from "../../../src/errors/index.ts";
import { TamperedArchives } from "../../../src/mirror/releases/tampered-archives.ts";
import { DiskRecords } from "../../../src/store/records/disk-records.ts";
import { makeLayout } from "../../store/stores.ts";

const at = new Date("2026-01-01T00:00:00Z");
const [expected, got] = ["a".repeat(64), "b".repeat(64)];

it("an archive that came with other bytes is known as such, by other processes too, until it comes itself", async () => {
  const layout = await makeLayout();
  const lost: unknown[] = [];
  const open = () =>
    new TamperedArchives(new DiskRecords(layout), (_, error) =>
      lost.push(error),
    );
  const archives = open();
  // Nothing to forget, nothing to write.
  archives.forget(expected);
  expect(await archives.find(expected)).toBeUndefined();
  archives.note(failure("archive-digest", "x.zip", expected, got), at);
  expect(await archives.find(expected)).toEqual({ got, at });
  expect(await archives.find(got)).toBeUndefined();
  archives.forget(got);
  await archives.close();
  expect(await open().find(expected)).toEqual({ got, at });
  archives.forget(expected);
  await archives.close();
  expect(await open().find(expected)).toBeUndefined();
  expect(lost).toEqual([]);
});
