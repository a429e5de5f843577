import { afterEach, describe, expect, it, vi } from "vitest";
import {
  DownloadPlaces,
  longestWait,
} from "../../../src/mirror/archives/places.ts";
import { failing } from "../../scenes/failing.ts";

afterEach(() => void vi.useRealTimers());

const never = new AbortController().signal;
const settle = () => new Promise((resolve) => setImmediate(resolve));

/** Downloads of these origins that run until they are ended. */
function start(
  places: DownloadPlaces,
  origins: readonly string[],
  signal = never,
) {
  return origins.map((origin) => {
    const work = Promise.withResolvers<string>();
    const download = {
      ...{ origin, isRead: true, cancel: work.reject },
      hasBegun: false,
      finish: () => work.resolve("done"),
      outcome: Promise.resolve<unknown>(undefined),
    };
    download.outcome = places
      .run(download, signal, () => {
        download.hasBegun = true;
        return work.promise;
      })
      .catch((error: unknown) => error);
    return download;
  });
}

describe("places for downloads", () => {
  it("are as many for each origin, and in all, as the limits say, and given in order", async () => {
    const places = new DownloadPlaces({ fills: 3, fillsPerOrigin: 2 });
    const all = start(places, ["a", "a", "a", "b", "b"]);
    const begun = () => all.map(({ hasBegun }) => hasBegun);
    await settle();
    expect(begun()).toEqual([true, true, false, true, false]);
    expect(places.load).toEqual({ fills: 3, waiting: 2 });
    all[3]?.finish();
    await settle();
    expect(begun()).toEqual([true, true, false, true, true]);
    all[0]?.finish();
    await settle();
    expect(begun()).toEqual([true, true, true, true, true]);
    for (const one of all) one.finish();
    for (const one of all) expect(await one.outcome).toBe("done");
    expect(places.load).toEqual({ fills: 0, waiting: 0 });
  });

  it("of downloads that no client waits for are given to others that wait, one each", async () => {
    const places = new DownloadPlaces({ fills: 64, fillsPerOrigin: 3 });
    const left = start(places, ["a", "a", "a"]);
    await settle();
    for (const one of left) one.isRead = false;
    places.makeWay();
    start(places, ["b"]);
    await settle();
    expect(places.load).toEqual({ fills: 4, waiting: 0 });
    const next = start(places, ["a", "a"]);
    await settle();
    expect(next.map(({ hasBegun }) => hasBegun)).toEqual([true, true]);
    expect(places.load).toEqual({ fills: 4, waiting: 0 });
    expect(await left[0]?.outcome).toEqual(failing("too-busy"));
    left[2]?.finish();
    expect(await left[2]?.outcome).toBe("done");
  });

  it("are not waited for any longer than two minutes, nor when the mirror stops", async () => {
    vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout"] });
    const places = new DownloadPlaces({ fills: 1, fillsPerOrigin: 1 });
    const closing = new AbortController();
    const [first] = start(places, ["a"]);
    const [second] = start(places, ["a"]);
    const [third] = start(places, ["a"], closing.signal);
    closing.abort(new Error("stopping"));
    expect(await third?.outcome).toEqual(new Error("stopping"));
    await vi.advanceTimersByTimeAsync(longestWait);
    expect(await second?.outcome).toEqual(failing("too-busy"));
    first?.finish();
    await first?.outcome;
    const [last] = start(places, ["a"]);
    last?.finish();
    expect(await last?.outcome).toBe("done");
    expect([second?.hasBegun, third?.hasBegun]).toEqual([false, false]);
  });
});
