import { expect, it } from "vitest";
import { RefusedVersions } from "../../../src/mirror/standings/refused-versions.ts";
import { address } from "../../scenes/believed-releases.ts";
import { FailingRecords, Writes } from "../../scenes/failing-writes.ts";
import { makeLayout } from "../../store/stores.ts";

const { provider } = address;

async function prepare() {
  const layout = await makeLayout();
  const writes = new Writes();
  const unwritten: string[] = [];
  const open = () =>
    new RefusedVersions(new FailingRecords(layout, writes), (name) =>
      unwritten.push(name),
    );
  return { writes, unwritten, open, refused: open() };
}

it("versions that were refused are known to the next process, until they are served", async () => {
  const { open, refused } = await prepare();
  expect((await refused.list(provider)).size).toBe(0);
  await refused.note(provider, "1.0.0", true);
  await refused.note(provider, "2.0.0", true);
  await refused.note(provider, "1.0.0", false);
  expect([...(await refused.list(provider))]).toEqual(["2.0.0"]);
  expect([...(await open().list(provider))]).toEqual(["2.0.0"]);
  expect((await open().list({ ...provider, type: "other" })).size).toBe(0);
});

it("what is noted already is not written again, and the list stays the same object", async () => {
  const { writes, refused } = await prepare();
  await refused.note(provider, "1.0.0", false);
  await refused.note(provider, "1.0.0", true);
  const list = await refused.list(provider);
  await refused.note(provider, "1.0.0", true);
  expect(await refused.list(provider)).toBe(list);
  expect(writes.names).toHaveLength(1);
});

it("notes of many at once are all kept", async () => {
  const { open, refused } = await prepare();
  const versions = Array.from({ length: 30 }, (_, n) => `${n}.0.0`);
  await Promise.all(versions.map((one) => refused.note(provider, one, true)));
  expect(new Set(await open().list(provider))).toEqual(new Set(versions));
});

it("a note that cannot be written counts for this process, and is told", async () => {
  const { writes, unwritten, refused } = await prepare();
  writes.let(() => "fails", "ENOSPC");
  await refused.note(provider, "1.0.0", true);
  expect([...(await refused.list(provider))]).toEqual(["1.0.0"]);
  expect(unwritten).toEqual(["registry.terraform.io/acme/thing"]);
});
