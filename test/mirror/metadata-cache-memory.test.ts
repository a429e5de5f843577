import { describe, expect, it } from "vitest";
import { NotStored } from "../../src/errors.ts";
import {
  absence,
  failure,
  limits,
  listOf,
  minute,
  prepare,
} from "./metadata.ts";

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

  it("is no failure of the origin: what was known is not served in its place", async () => {
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
    origin.answer = failure;
    clock.pass(limits.staleFor);
    expect(await open()()).toMatchObject({
      outcome: "stale",
      age: limits.staleFor,
    });
    clock.pass(1);
    await expect(open()()).rejects.toBe(failure);
  });

  it("a record from the future is asked for again, and served while the origin fails", async () => {
    const { clock, origin, open, get } = await prepare();
    await get();
    clock.step(-24 * 60 * minute);
    const reopened = open();
    origin.answer = failure;
    expect((await reopened()).outcome).toBe("stale");
    expect(origin.asked).toBe(2);
    clock.pass(5_000);
    origin.answer = listOf("2.0.0");
    expect((await reopened()).outcome).toBe("fetched");
  });
});

describe("offline", () => {
  it("what is stored is a hit however old it is, and nobody is asked", async () => {
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
    await expect(open(true)()).rejects.toThrow(NotStored);
    expect(origin.asked).toBe(0);
  });
});
