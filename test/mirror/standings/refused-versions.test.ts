import { expect, it } from "vitest";
import { RefusedVersions } from "../../../src/mirror/standings/refused-versions.ts";
import { address } from "../../scenes/believed-releases.ts";
import { FailingRecords, Writes } from "../../scenes/failing-writes.ts";
import { TestClock } from "../cache/metadata.ts";
import { makeLayout } from "../../store/stores.ts";

const { provider } = address;

async function prepare({ shared = false } = {}) {
  const layout = await makeLayout();
  const writes = new Writes();
  const unwritten: string[] = [];
  const phantoms: string[] = [];
  const clock = new TestClock();
  const open = () =>
    new RefusedVersions({
      ...{ records: new FailingRecords(layout, writes), clock, shared },
      onUnwritten: (name) => unwritten.push(name),
      onPhantom: (release) => phantoms.push(release),
    });
  return { clock, phantoms, writes, unwritten, open, refused: open() };
}

it("versions that were refused are known to the next process, until they are served", async () => {
  const { open, refused } = await prepare();
  expect((await refused.list(provider)).size).toBe(0);
  await refused.note(provider, "1.0.0", "refused");
  await refused.note(provider, "2.0.0", "refused");
  await refused.note(provider, "1.0.0", undefined);
  expect([...(await refused.list(provider)).keys()]).toEqual(["2.0.0"]);
  expect([...(await open().list(provider)).keys()]).toEqual(["2.0.0"]);
  expect((await open().list({ ...provider, type: "other" })).size).toBe(0);
});

it("what is noted already is not written again, and the list stays the same object", async () => {
  const { writes, refused } = await prepare();
  await refused.note(provider, "1.0.0", undefined);
  await refused.note(provider, "1.0.0", "refused");
  const list = await refused.list(provider);
  await refused.note(provider, "1.0.0", "refused");
  expect(await refused.list(provider)).toBe(list);
  expect(writes.names).toHaveLength(1);
});

it("notes of many at once are all kept", async () => {
  const { open, refused } = await prepare();
  const versions = Array.from({ length: 30 }, (_, n) => `${n}.0.0`);
  await Promise.all(
    versions.map((one) => refused.note(provider, one, "refused")),
  );
  expect(new Set((await open().list(provider)).keys())).toEqual(
    new Set(versions),
  );
});

it("a note that cannot be written counts for this process, and is reported", async () => {
  const { writes, unwritten, refused } = await prepare();
  writes.let(() => "fails", "ENOSPC");
  await refused.note(provider, "1.0.0", "refused");
  expect([...(await refused.list(provider)).keys()]).toEqual(["1.0.0"]);
  expect(unwritten).toEqual(["registry.terraform.io/acme/thing"]);
});

it("a phantom is reported once, with when it was first seen, until its documents come", async () => {
  const { clock, phantoms, open, refused } = await prepare();
  const since = clock.now();
  await refused.note(provider, "2.0.0", "phantom");
  clock.pass(60_000);
  await refused.note(provider, "2.0.0", "phantom");
  const noted = new Map([["2.0.0", { kind: "phantom", since }]]);
  expect(await open().list(provider)).toEqual(noted);
  expect(phantoms).toEqual(["registry.terraform.io/acme/thing 2.0.0"]);
  await refused.note(provider, "2.0.0", undefined);
  expect((await open().list(provider)).size).toBe(0);
});

it("replicas see within ten seconds what another one noted, and lose none of it", async () => {
  const { clock, open, refused } = await prepare({ shared: true });
  const other = open();
  expect((await other.list(provider)).size).toBe(0);
  await refused.note(provider, "1.0.0", "phantom");
  clock.pass(10_000);
  const seen = await other.list(provider);
  expect([...seen.keys()]).toEqual(["1.0.0"]);
  clock.pass(10_000);
  expect(await other.list(provider)).toBe(seen);
  await other.note(provider, "2.0.0", "refused");
  await refused.note(provider, "3.0.0", "refused");
  expect([...(await open().list(provider)).keys()].toSorted()).toEqual([
    ...["1.0.0", "2.0.0", "3.0.0"],
  ]);
});
