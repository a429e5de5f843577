import { expect, it } from "vitest";
import {
  isSame,
  shareJudging,
  type ListingState,
  type RunningJudgings,
} from "../../../src/mirror/listing/version-listing.ts";
import type { VersionList } from "../../../src/mirror/versions/version-list.ts";

const trust = {} as never;

function stateOf(changes: Partial<ListingState> = {}): ListingState {
  const common = { rules: {} as never, refused: new Map() };
  return { ...common, trust: new WeakRef(trust), revision: 0, ...changes };
}

const first = stateOf();
const later = { ...first, revision: 1 };
const list = {} as VersionList;

/** Judgings that end when the test says so. */
function scene() {
  const running: RunningJudgings<string> = new Map();
  const begun: PromiseWithResolvers<string>[] = [];
  const ask = (state: ListingState) =>
    shareJudging(running, list, state, () => {
      const one = Promise.withResolvers<string>();
      begun.push(one);
      return one.promise;
    });
  return { ask, begun };
}

it("is the same state while nothing that decides has changed", () => {
  expect(isSame(first, { ...first, trust: new WeakRef(trust) })).toBe(true);
  const others: readonly Partial<ListingState>[] = [
    { rules: {} as never },
    { refused: new Map() },
    { revision: 1 },
    { trust: new WeakRef({} as never) },
  ];
  for (const other of others)
    expect(isSame(first, { ...first, ...other })).toBe(false);
});

it("runs once for all requests of one state, and again afterwards", async () => {
  const { ask, begun } = scene();
  const asked = [ask(first), ask({ ...first }), ask(first)];
  begun[0]?.resolve("one");
  expect(await Promise.all(asked)).toEqual(["one", "one", "one"]);
  const again = ask(first);
  begun[1]?.resolve("two");
  expect(await again).toBe("two");
  expect(begun).toHaveLength(2);
});

it.each(["well", "badly"])(
  "gives requests of a later state one that began after them, when the earlier ends %s",
  async (end) => {
    const { ask, begun } = scene();
    const earlier = ask(first).catch((error: unknown) => error);
    const waiting = [ask(later), ask({ ...later, revision: 2 }), ask(later)];
    expect(begun).toHaveLength(1);
    const failure = new Error("bad");
    if (end === "well") begun[0]?.resolve("old");
    else begun[0]?.reject(failure);
    expect(await earlier).toBe(end === "well" ? "old" : failure);
    await expect.poll(() => begun.length).toBe(2);
    begun[1]?.resolve("new");
    expect(await Promise.all(waiting)).toEqual(["new", "new", "new"]);
    expect(begun).toHaveLength(2);
  },
);
