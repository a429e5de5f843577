import { describe, expect, it } from "vitest";
import { LargeDocuments } from "../../../src/origin/http/large-documents.ts";

const large = 1024 * 1024;
const never = new AbortController().signal;

async function isSettled(promise: Promise<unknown>): Promise<boolean> {
  let settled = false;
  const settle = () => void (settled = true);
  promise.then(settle, settle);
  await new Promise((resolve) => setImmediate(resolve));
  return settled;
}

describe("documents that are held at once", () => {
  it("are any number while they are small", async () => {
    const documents = new LargeDocuments();
    for (let n = 0; n < 100; n++) await documents.place(never).hold(256 * 1024);
  });

  it("are four when they are large, and the next one when one is let go", async () => {
    const documents = new LargeDocuments();
    const places = Array.from({ length: 6 }, () => documents.place(never));
    const held = places.map((place) => place.hold(large));
    const states = () => Promise.all(held.map(isSettled));
    expect(await states()).toEqual([true, true, true, true, false, false]);
    places[1]?.[Symbol.dispose]();
    expect(await states()).toEqual([true, true, true, true, true, false]);
  });

  it("take one place each, however they grow", async () => {
    const documents = new LargeDocuments();
    const places = Array.from({ length: 4 }, () => documents.place(never));
    for (const place of places)
      for (let size = large; size < 8 * large; size += large)
        await place.hold(size);
    places[0]?.[Symbol.dispose]();
    await documents.place(never).hold(large);
  });

  it("leave no place taken by one whose time was over while it waited", async () => {
    const documents = new LargeDocuments();
    const places = Array.from({ length: 4 }, () => documents.place(never));
    await Promise.all(places.map((place) => place.hold(large)));
    const late = new AbortController();
    const waiting = documents.place(late.signal).hold(large);
    late.abort(new Error("late"));
    await expect(waiting).rejects.toThrow("late");
    await expect(documents.place(late.signal).hold(large)).rejects.toThrow(
      "late",
    );
    places[0]?.[Symbol.dispose]();
    await documents.place(never).hold(large);
  });
});
