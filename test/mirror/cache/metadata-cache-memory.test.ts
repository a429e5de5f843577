import { describe, expect, it } from "vitest";
import { providerAddress } from "../../../src/address/provider-address.ts";
import { MetadataCache } from "../../../src/mirror/cache/metadata-cache.ts";
import {
  providerVersionNaming,
  VersionRecords,
} from "../../../src/mirror/versions/version-records.ts";
import { FailingRecords, Writes } from "../../scenes/failing-writes.ts";
import { failing } from "../../scenes/failing.ts";
import {
  absence,
  outage,
  limits,
  listOf,
  minute,
  prepare,
  TestClock,
} from "./metadata.ts";
import { makeLayout } from "../archives/archives.ts";

describe("absence", () => {
  it("is remembered briefly, and ends when the thing appears", async () => {
    const { clock, origin, get } = await prepare();
    origin.answer = absence;
    await expect(get()).rejects.toEqual(absence);
    clock.pass(limits.notFound - 1);
    await expect(get()).rejects.toEqual(absence);
    expect(origin.asked).toBe(1);
    origin.answer = listOf("1.0.0");
    clock.pass(1);
    expect((await get()).outcome).toBe("fetched");
  });

  it("is not lengthened by asking", async () => {
    const { clock, origin, get } = await prepare();
    origin.answer = absence;
    for (let time = 0; time < 3; time++) {
      await expect(get()).rejects.toEqual(absence);
      clock.pass(limits.notFound / 2);
    }
    expect(origin.asked).toBe(2);
  });

  it("is not remembered across a restart", async () => {
    const { origin, open, get } = await prepare();
    origin.answer = absence;
    await expect(get()).rejects.toEqual(absence);
    origin.answer = listOf("1.0.0");
    expect((await open()()).outcome).toBe("fetched");
  });

  it("is no outage of the origin: what was known is not served in its place", async () => {
    const { clock, origin, get } = await prepare();
    await get();
    clock.pass(limits.versions);
    origin.answer = absence;
    await expect(get()).rejects.toEqual(absence);
  });
});

describe("after a restart", () => {
  it("a record is a hit while it is fresh, and its age counts from when the origin said it", async () => {
    const { clock, origin, open, get } = await prepare();
    const { value } = await get();
    clock.pass(minute);
    expect(await open()()).toMatchObject({
      outcome: "hit",
      age: minute,
      value,
    });
    expect(origin.asked).toBe(1);
  });

  it("an old record is asked for again, with what is known", async () => {
    const { clock, origin, open, get } = await prepare();
    const { value } = await get();
    clock.pass(limits.versions);
    expect(await open()()).toMatchObject({ outcome: "fetched", age: 0 });
    expect(origin.known.at(-1)).toEqual(value);
  });

  it("an old record is served while the origin fails, up to staleFor", async () => {
    const { clock, origin, open, get } = await prepare();
    await get();
    origin.answer = outage;
    clock.pass(limits.staleFor);
    expect(await open()()).toMatchObject({
      outcome: "stale",
      age: limits.staleFor,
    });
    clock.pass(1);
    await expect(open()()).rejects.toBe(outage);
  });

  it("a record from the future is asked for again, and served while the origin fails", async () => {
    const { clock, origin, open, get } = await prepare();
    await get();
    clock.step(-24 * 60 * minute);
    const reopened = open();
    origin.answer = outage;
    expect((await reopened()).outcome).toBe("stale");
    expect(origin.asked).toBe(2);
    clock.pass(5_000);
    origin.answer = listOf("2.0.0");
    expect((await reopened()).outcome).toBe("fetched");
  });
});

describe("offline", () => {
  it("what is stored is a hit at any age, without a request", async () => {
    const { clock, origin, open, get } = await prepare();
    await get();
    clock.pass(10 * limits.staleFor);
    const offline = open(true);
    expect(await offline()).toMatchObject({
      outcome: "hit",
      age: 10 * limits.staleFor,
    });
    expect(origin.asked).toBe(1);
  });

  it("what is not stored is absent", async () => {
    const { origin, open } = await prepare();
    await expect(open(true)()).rejects.toThrow(failing("not-stored"));
    expect(origin.asked).toBe(0);
  });
});

describe("a clock that is stepped by years", () => {
  const years = 10 * 365 * 24 * 60 * minute;

  it("forward has the origin asked about what was written before, which is served while it fails", async () => {
    const { clock, origin, open, get } = await prepare();
    const reopened = open();
    await get();
    clock.step(years);
    clock.pass(minute);
    origin.answer = outage;
    expect(await reopened()).toMatchObject({
      outcome: "stale",
      age: limits.versions,
    });
    expect(origin.asked).toBe(2);
  });

  it("back leaves what was written before it as young as it is", async () => {
    const { clock, origin, open, get } = await prepare();
    const reopened = open();
    await get();
    clock.step(-years);
    clock.pass(minute);
    expect(await reopened()).toMatchObject({ outcome: "hit", age: minute });
    expect(origin.asked).toBe(1);
  });

  it("forward leaves what was written after it as young as it is", async () => {
    const { clock, origin, open, get } = await prepare();
    const reopened = open();
    clock.step(years);
    await get();
    clock.pass(minute);
    expect(await reopened()).toMatchObject({ outcome: "hit", age: minute });
    expect(origin.asked).toBe(1);
  });

  it("back, after a start, makes no record fresh again", async () => {
    const { clock, origin, open, get } = await prepare();
    await get();
    clock.pass(limits.versions);
    const reopened = open();
    clock.step(-limits.versions);
    expect((await reopened()).outcome).toBe("fetched");
    expect(origin.asked).toBe(2);
  });

  it("makes nothing stale for ever: the first good answer is fresh", async () => {
    const { clock, origin, open, get } = await prepare();
    await get();
    for (const step of [years, -2 * years]) {
      clock.step(step);
      const reopened = open();
      expect((await reopened()).outcome).toBe("fetched");
      expect((await reopened()).outcome).toBe("hit");
    }
    expect(origin.asked).toBe(3);
  });
});

describe("an asker who wants it younger", () => {
  it("has the origin asked once, however many there are, and then for what is younger only", async () => {
    const { clock, origin, get } = await prepare();
    await get();
    clock.pass(minute);
    expect((await get(2 * minute)).outcome).toBe("hit");
    const asked = await Promise.all(
      Array.from({ length: 20 }, () => get(minute)),
    );
    expect(asked.map(({ age }) => age)).toEqual(Array(20).fill(0));
    expect(origin.asked).toBe(2);
    expect((await get(minute)).outcome).toBe("hit");
  });

  it("gets a stale answer when the origin fails, which is then spared; others get a hit", async () => {
    const { clock, origin, stale, get } = await prepare();
    await get();
    clock.pass(minute);
    origin.answer = outage;
    for (let time = 0; time < 10; time++)
      expect(await get(minute)).toMatchObject({
        outcome: "stale",
        age: minute,
      });
    expect(await get()).toMatchObject({ outcome: "hit", age: minute });
    expect(origin.asked).toBe(2);
    expect(stale).toEqual([minute]);
  });
});

describe("a mirror that asks again often", () => {
  it("is not slower to recover than its lists are fresh", async () => {
    const { clock, origin, get } = await prepare({ versions: 1_000 });
    await get();
    clock.pass(1_000);
    origin.answer = outage;
    expect((await get()).outcome).toBe("stale");
    origin.answer = listOf("2.0.0");
    clock.pass(1_000);
    expect((await get()).outcome).toBe("fetched");
  });
});

it("what is written while its record is read is not forgotten for what was there before", async () => {
  const widget = providerAddress("registry.terraform.io", "acme", "widget");
  const writes = new Writes();
  const store = new FailingRecords(await makeLayout(), writes);
  const records = new VersionRecords(store, providerVersionNaming);
  const clock = new TestClock();
  const open = () =>
    new MetadataCache(
      ...([records, limits, clock, false] as const),
      () => undefined,
      () => undefined,
    );
  const [before, after] = [listOf("1.0.0"), listOf("2.0.0")];
  await open().get(widget, () => Promise.resolve(before));
  const cache = open();
  const held = writes.holdRead(() => true);
  const reading = cache.peek(widget);
  await held.reached;
  await cache.amend(widget, after, before);
  held.free();
  expect(await reading).toBe(after);
  expect(await cache.peek(widget)).toBe(after);
});
