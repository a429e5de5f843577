import { setTimeout as delay } from "node:timers/promises";
import { describe, expect, it, vi } from "vitest";
import { failure, isAbsence } from "../../../src/errors/index.ts";
import { failing } from "../../scenes/failing.ts";
import type { VersionList } from "../../../src/mirror/versions/version-list.ts";
import { askDatabase, makeLayout, openRecords } from "../../store/stores.ts";
import { providerAddress } from "../../../src/address/provider-address.ts";
import { parseVersion } from "../../../src/address/version.ts";
import { MetadataCache } from "../../../src/mirror/cache/metadata-cache.ts";
import {
  providerVersionNaming,
  VersionRecords,
} from "../../../src/mirror/versions/version-records.ts";
import { TestClock } from "../../fakes/clock.ts";

const minute = 60_000;
const limits = {
  versions: 5 * minute,
  staleFor: 60 * minute,
  notFound: minute / 2,
  answer: 7_000,
  waiters: 100,
};
const widget = providerAddress("registry.terraform.io", "acme", "widget");
const outage = failure(
  "origin-unreachable",
  "https://a.example/",
  "ECONNREFUSED",
);
const absence = failure("not-found", "registry.terraform.io/acme/widget");

/** An origin that answers what the test says, and counts. */
class TestOrigin {
  asked = 0;
  known: (VersionList | undefined)[] = [];
  answer: VersionList | Error | Promise<VersionList> = listOf("1.0.0");

  readonly fetch = async (
    known: VersionList | undefined,
  ): Promise<VersionList> => {
    this.asked += 1;
    this.known.push(known && { ...known, revision: 0 });
    const answer = await this.answer;
    if (answer instanceof Error) throw answer;
    return { ...answer, revision: known?.revision ?? 0 };
  };
}

function listOf(text: string): VersionList {
  const version = parseVersion(text);
  const entry = {
    version,
    protocols: ["5.0"],
    platforms: undefined,
    appeared: undefined,
    listed: true,
  };
  return {
    firstContact: new Date(0),
    versions: new Map([[version, entry]]),
    warnings: [],
    revision: 0,
  };
}

/** A cache of lists of versions over real records; `open` opens another one over the same. */
async function prepare(settings: Partial<typeof limits> = {}, offline = false) {
  const layout = await makeLayout();
  const clock = new TestClock();
  const origin = new TestOrigin();
  const unwritten: string[] = [];
  const stale: number[] = [];
  const open = (nowOffline = offline) => {
    const store = openRecords(layout);
    const cache = new MetadataCache(
      new VersionRecords(store, providerVersionNaming),
      { ...limits, ...settings },
      clock,
      nowOffline,
      (record) => unwritten.push(record),
      (_, age) => stale.push(age),
    );
    return async (
      maxAge = Infinity,
      absentFor = Infinity,
      mayBeOld = false,
    ) => {
      const within = { maxAge, absentFor, mayBeOld };
      const answer = await cache.get(widget, origin.fetch, within);
      return { ...answer, value: { ...answer.value, revision: 0 } };
    };
  };
  return { layout, clock, origin, open, unwritten, stale, get: open() };
}

describe("what the origin said", () => {
  it("is a hit until it is old, and then asked for again with what is known", async () => {
    const { clock, origin, get } = await prepare();
    const first = listOf("1.0.0");
    origin.answer = first;
    expect(await get()).toMatchObject({
      outcome: "fetched",
      age: 0,
      value: first,
    });
    clock.pass(limits.versions - 1);
    expect(await get()).toMatchObject({
      outcome: "hit",
      age: limits.versions - 1,
      originTime: 0,
    });
    expect(origin.asked).toBe(1);
    clock.pass(1);
    origin.answer = listOf("2.0.0");
    expect(await get()).toMatchObject({
      outcome: "fetched",
      age: 0,
      value: origin.answer,
    });
    expect(origin.known).toEqual([undefined, first]);
  });

  it("is asked for every time when nothing may be kept", async () => {
    const { origin, get } = await prepare({ versions: 0 });
    for (let time = 0; time < 3; time++)
      expect((await get()).outcome).toBe("fetched");
    expect(origin.asked).toBe(3);
  });

  it("is waited for by a bounded number, and by new ones afterwards", async () => {
    const { origin, get } = await prepare({ waiters: 2 });
    const { promise, resolve } = Promise.withResolvers<VersionList>();
    origin.answer = promise;
    const asked = [get(), get(), get()];
    await expect(get()).rejects.toThrow(failing("too-busy"));
    resolve(listOf("1.0.0"));
    expect((await Promise.all(asked)).length).toBe(3);
    expect((await get()).outcome).toBe("hit");
  });

  it("is asked for again where another process wrote something first, with what that wrote", async () => {
    const { clock, origin, open, get } = await prepare();
    await get();
    const other = open();
    await other();
    clock.pass(limits.versions);
    origin.answer = listOf("2.0.0");
    await other();
    origin.answer = listOf("3.0.0");
    expect(await get()).toMatchObject({
      outcome: "fetched",
      value: origin.answer,
    });
    expect(origin.known.slice(-2)).toEqual([listOf("1.0.0"), listOf("2.0.0")]);
    expect((await open()()).value).toEqual(origin.answer);
  });

  it("does not grow old or young with the clock on the wall", async () => {
    const { clock, origin, get } = await prepare();
    await get();
    clock.step(365 * 24 * 60 * minute);
    expect(await get()).toMatchObject({ outcome: "hit", age: 0 });
    clock.step(-2 * 365 * 24 * 60 * minute);
    expect(await get()).toMatchObject({ outcome: "hit", age: 0 });
    expect(origin.asked).toBe(1);
  });
});

describe("while the origin fails", () => {
  it("what is known is served with its age, and the origin asked only now and then", async () => {
    const { clock, origin, get } = await prepare();
    const value = (await get()).value;
    clock.pass(limits.versions);
    origin.answer = outage;
    const stale = { outcome: "stale", value };
    expect(await get()).toMatchObject({ ...stale, age: limits.versions });
    clock.pass(4_999);
    expect(await get()).toMatchObject({
      ...stale,
      age: limits.versions + 4_999,
      originTime: 0,
    });
    expect(origin.asked).toBe(2);
    clock.pass(1);
    expect(await get()).toMatchObject(stale);
    expect(origin.asked).toBe(3);
    clock.pass(5_000);
    origin.answer = listOf("2.0.0");
    expect(await get()).toMatchObject({ outcome: "fetched", age: 0 });
    expect(await get()).toMatchObject({ outcome: "hit", value: origin.answer });
  });

  it("what is known is served up to staleFor and not beyond", async () => {
    const { clock, origin, get } = await prepare();
    await get();
    origin.answer = outage;
    clock.pass(limits.staleFor);
    expect((await get()).outcome).toBe("stale");
    clock.pass(5_001);
    await expect(get()).rejects.toBe(outage);
    await expect(get()).rejects.toBe(outage);
    expect(origin.asked).toBe(4);
  });

  it.each([
    outage,
    failure("origin-timeout", "https://a.example/", "no first byte"),
    failure("origin-busy", "https://a.example/", 5),
  ])("%s is never remembered as absence", async (error) => {
    const { origin, get } = await prepare();
    origin.answer = error;
    await expect(get()).rejects.toBe(error);
    origin.answer = listOf("1.0.0");
    expect((await get()).outcome).toBe("fetched");
    expect(isAbsence(error)).toBe(false);
  });

  it("a refusal is not hidden behind what is known", async () => {
    const { clock, origin, get } = await prepare();
    await get();
    clock.pass(limits.versions);
    origin.answer = failure(
      "signature-refused",
      "acme/widget 1.0.0",
      "bad",
      "it is bad",
    );
    await expect(get()).rejects.toBe(origin.answer);
  });
});

describe("who does not wait for the origin", () => {
  const atOnce = [Infinity, Infinity, true] as const;

  it("gets what is on record after a restart", async () => {
    const { clock, origin, open, get } = await prepare();
    const { value } = await get();
    clock.pass(limits.staleFor);
    origin.answer = new Promise<VersionList>(() => undefined);
    const reopened = open();
    expect(await reopened(...atOnce)).toMatchObject({ outcome: "hit", value });
    clock.pass(1);
    const late = await Promise.race([open()(...atOnce), delay(50, "waits")]);
    expect(late).toBe("waits");
  });

  it("waits for a first answer, and every time when nothing may be kept", async () => {
    const { origin, get } = await prepare({ versions: 0 });
    for (const version of ["1.0.0", "2.0.0"]) {
      origin.answer = listOf(version);
      const { outcome, value } = await get(...atOnce);
      expect(outcome).toBe("fetched");
      expect(value).toEqual(origin.answer);
    }
  });

  it("hears that the origin fails from the second answer on", async () => {
    const { clock, origin, get, stale } = await prepare();
    await get();
    clock.pass(limits.versions);
    origin.answer = outage;
    expect((await get(...atOnce)).outcome).toBe("hit");
    await vi.waitUntil(() => stale.length === 1);
    for (const ms of [0, 4_999, 1]) {
      clock.pass(ms);
      expect((await get(...atOnce)).outcome).toBe("stale");
    }
    expect(origin.asked).toBe(3);
  });

  it.each([absence, failure("signature-refused", "x", "bad", "it is bad")])(
    "waits after %s",
    async (error) => {
      const { clock, origin, get } = await prepare();
      await get();
      clock.pass(limits.versions);
      origin.answer = error;
      await expect(get()).rejects.toEqual(error);
      clock.pass(limits.notFound);
      await expect(get(...atOnce)).rejects.toEqual(error);
      origin.answer = listOf("2.0.0");
      clock.pass(limits.notFound);
      expect((await get(...atOnce)).outcome).toBe("fetched");
    },
  );
});

describe("a disk that takes nothing more", () => {
  it("does not turn a good answer into a outage", async () => {
    const { layout, origin, get, unwritten } = await prepare();
    askDatabase(
      layout,
      "CREATE TRIGGER none BEFORE INSERT ON version_lists BEGIN SELECT RAISE(ABORT, 'full'); END",
    );
    origin.answer = listOf("1.0.0");
    expect(await get()).toMatchObject({ outcome: "fetched" });
    expect(await get()).toMatchObject({ outcome: "hit" });
    expect(unwritten).toHaveLength(1);
    expect(origin.asked).toBe(1);
  });
});

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

  it("is believed for as long as whoever asks believes it", async () => {
    const { clock, origin, get } = await prepare();
    origin.answer = absence;
    await expect(get()).rejects.toEqual(absence);
    clock.pass(1_000);
    await expect(get(Infinity, 1_001)).rejects.toEqual(absence);
    expect(origin.asked).toBe(1);
    origin.answer = listOf("1.0.0");
    expect((await get(Infinity, 1_000)).outcome).toBe("fetched");
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

  it("back, after a start, makes no record fresh again", async () => {
    const { clock, origin, open, get } = await prepare();
    await get();
    clock.pass(limits.versions);
    const reopened = open();
    clock.step(-limits.versions);
    expect((await reopened()).outcome).toBe("fetched");
    expect(origin.asked).toBe(2);
  });
});

it("offline, what is stored is a hit at any age, without a request", async () => {
  const { clock, origin, open, get } = await prepare();
  await get();
  clock.pass(10 * limits.staleFor);
  const age = 10 * limits.staleFor;
  expect(await open(true)()).toMatchObject({ outcome: "hit", age });
  expect(origin.asked).toBe(1);
});
