import { describe, expect, it } from "vitest";
import { LargeDocuments } from "../../../src/origin/http/large-documents.ts";

const large = 1024 * 1024;
const never = new AbortController().signal;

/** Another one each time. */
let hosts = 0;
const host = () => `host${hosts++}.example.com`;

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
    for (let n = 0; n < 100; n++)
      await documents.place(host(), never).hold(256 * 1024);
  });

  it("are four when they are large, and the next one when one is let go", async () => {
    const documents = new LargeDocuments();
    const places = Array.from({ length: 6 }, () =>
      documents.place(host(), never),
    );
    const held = places.map((place) => place.hold(large));
    const states = () => Promise.all(held.map(isSettled));
    expect(await states()).toEqual([true, true, true, true, false, false]);
    places[1]?.[Symbol.dispose]();
    expect(await states()).toEqual([true, true, true, true, true, false]);
  });

  it("take one place each, however they grow", async () => {
    const documents = new LargeDocuments();
    const places = Array.from({ length: 4 }, () =>
      documents.place(host(), never),
    );
    for (const place of places)
      for (let size = large; size < 8 * large; size += large)
        await place.hold(size);
    places[0]?.[Symbol.dispose]();
    await documents.place(host(), never).hold(large);
  });

  it("leave no place taken by one whose time was over while it waited", async () => {
    const documents = new LargeDocuments();
    const places = Array.from({ length: 4 }, () =>
      documents.place(host(), never),
    );
    await Promise.all(places.map((place) => place.hold(large)));
    const late = new AbortController();
    const waiting = documents.place(host(), late.signal).hold(large);
    late.abort(new Error("late"));
    await expect(waiting).rejects.toThrow("late");
    await expect(
      documents.place(host(), late.signal).hold(large),
    ).rejects.toThrow("late");
    places[0]?.[Symbol.dispose]();
    await documents.place(host(), never).hold(large);
  });

  it.each([3, 4, 40])(
    "leave a place to other hosts when one sends %i slowly",
    async (count) => {
      const documents = new LargeDocuments();
      const slow = Array.from({ length: count }, () =>
        documents.place("slow.example.com", never),
      );
      const held = slow.map((place) => place.hold(large));
      const states = await Promise.all(held.map(isSettled));
      expect(states.filter(Boolean)).toHaveLength(3);
      await documents.place(host(), never).hold(large);
    },
  );

  it("give the places of a host to its next ones, also of those that gave up waiting", async () => {
    const documents = new LargeDocuments();
    const late = new AbortController();
    const slow = Array.from({ length: 3 }, () =>
      documents.place("slow.example.com", never),
    );
    await Promise.all(slow.map((place) => place.hold(large)));
    const given = documents.place("slow.example.com", late.signal).hold(large);
    const next = documents.place("slow.example.com", never).hold(large);
    late.abort(new Error("late"));
    await expect(given).rejects.toThrow("late");
    expect(await isSettled(next)).toBe(false);
    slow[0]?.[Symbol.dispose]();
    await next;
  });
});
