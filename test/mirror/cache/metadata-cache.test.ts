import { setTimeout as delay } from "node:timers/promises";
import { expect, it, vi } from "vitest";
import { providerAddress } from "../../../src/address/provider-address.ts";
import { parseVersion } from "../../../src/address/version.ts";
import { failure, ProvenderError } from "../../../src/errors/index.ts";
import { MetadataCache } from "../../../src/mirror/cache/metadata-cache.ts";
import {
  providerVersionNaming,
  type VersionList,
  versionRecords,
} from "../../../src/mirror/versions/version-list.ts";
import { TestClock } from "../../fakes/clock.ts";
import { failing } from "../../scenes/failing.ts";
import { askDatabase, makeLayout, openRecords } from "../../store/stores.ts";

const limits = {
  ...{ versions: 300_000, staleFor: 3_600_000, notFound: 30_000 },
  ...{ answer: 7_000, waiters: 100 },
};
const widget = providerAddress("registry.terraform.io", "acme", "widget");
const failures: Readonly<Record<string, Error>> = {
  outage: failure("origin-unreachable", "https://a.example/", "ECONNREFUSED"),
  timeout: failure("origin-timeout", "https://a.example/", "no first byte"),
  busy: failure("origin-busy", "https://a.example/", 5),
  absent: failure("not-found", "registry.terraform.io/acme/widget"),
  refused: failure("signature-refused", "it", "bad", "it is bad"),
};

function listOf(text: string): VersionList {
  const version = parseVersion(text);
  const entry = {
    ...{ version, protocols: ["5.0"], listed: true },
    ...{ platforms: undefined, appeared: undefined },
  };
  return {
    firstContact: new Date(0),
    versions: new Map([[version, entry]]),
    ...{ warnings: [], revision: 0 },
  };
}

const nameOf = (list: VersionList | undefined) =>
  [...(list?.versions.keys() ?? ["none"])].join();

/** A cache of lists of versions over real records, and its origin; `open` opens another one over the same. */
async function prepare(settings: Partial<typeof limits> = {}) {
  const layout = await makeLayout();
  const clock = new TestClock();
  const stale: number[] = [];
  const unwritten: string[] = [];
  const origin = {
    answer: listOf("1.0.0") as VersionList | Error | Promise<VersionList>,
    /** What was known at each question. */
    known: [] as string[],
    fetch: async (known: VersionList | undefined): Promise<VersionList> => {
      origin.known.push(nameOf(known));
      const answer = await origin.answer;
      if (answer instanceof Error) throw answer;
      return { ...answer, revision: known?.revision ?? 0 };
    },
  };
  const open = (offline = false) => {
    const cache = new MetadataCache(
      versionRecords(openRecords(layout), providerVersionNaming),
      {
        limits: { ...limits, ...settings },
        ...{ clock, offline },
        onUnwritten: (record) => unwritten.push(record),
        onStale: (_, age) => stale.push(age),
      },
    );
    return (mayBeOld = false, absentFor = Infinity, subject = widget) =>
      cache.get(subject, origin.fetch, { absentFor, mayBeOld });
  };
  return { layout, clock, origin, open, stale, unwritten, get: open() };
}

/**
 * Plays a story, and tells it with what came of it. The origin answers with a list (`1.0.0`) or a failure from then on; `+1s` passes,
 * `wall-1s` sets the clock on the wall; `open` and `offline` start another process. `get` asks, `other` asks the other process, `now`
 * asks without waiting for the origin, `within` believes an absence for a second.
 */
async function tell(
  story: string,
  settings?: Partial<typeof limits>,
): Promise<string> {
  const scene = await prepare(settings);
  const { layout, clock, origin, open, stale, unwritten, get } = scene;
  let other = get;
  const asks: Readonly<Record<string, () => ReturnType<typeof get>>> = {
    get: () => get(),
    other: () => other(),
    now: () => get(true),
    within: () => get(false, 1_000),
  };
  const counts: Readonly<Record<string, () => string>> = {
    asked: () => `${origin.known.length}`,
    known: () => origin.known.join(" "),
    unwritten: () => `${unwritten.length}`,
  };
  const doing: Readonly<Record<string, () => unknown>> = {
    open: () => (other = open()),
    offline: () => (other = open(true)),
    noted: () => vi.waitUntil(() => stale.length === 1),
    full: () =>
      askDatabase(
        layout,
        "CREATE TRIGGER none BEFORE INSERT ON version_lists BEGIN SELECT RAISE(ABORT, 'full'); END",
      ),
  };
  const ask = async (name: string) => {
    try {
      const answer = await asks[name]?.();
      if (answer === undefined) return counts[name]?.() ?? "";
      const { outcome, value, age } = answer;
      return `${outcome} ${nameOf(value)} ${age / 1_000}s`;
    } catch (error) {
      if (error instanceof ProvenderError) return error.code;
      throw error;
    }
  };
  const told: string[] = [];
  for (const part of story.split("; ")) {
    const steps = part.replace(/ => .*/, "").split(" ");
    const last = steps.at(-1) ?? "";
    for (const step of steps) {
      const [, wall, seconds] = /^(wall)?([+-][\d.]+)s$/.exec(step) ?? [];
      if (seconds !== undefined && wall) clock.step(Number(seconds) * 1_000);
      else if (seconds !== undefined) clock.pass(Number(seconds) * 1_000);
      else if (step in failures) origin.answer = failures[step] ?? new Error();
      else if (step in doing) await doing[step]?.();
      else if (/^\d/.test(step)) origin.answer = listOf(step);
    }
    told.push(`${steps.join(" ")} => ${await ask(last)}`);
  }
  return told.join("; ");
}

const first = "get => fetched 1.0.0 0s";

it.each(
  Object.entries({
    "is a hit until it is old, and then asked for again with what is known": `${first}; +299s get => hit 1.0.0 299s; asked => 1; +1s 2.0.0 get => fetched 2.0.0 0s; known => none 1.0.0`,
    "is asked for again where another process wrote something first, with what that wrote": `${first}; open other => hit 1.0.0 0s; +300s 2.0.0 other => fetched 2.0.0 0s; 3.0.0 get => fetched 3.0.0 0s; known => none 1.0.0 1.0.0 2.0.0; open other => hit 3.0.0 0s`,
    "does not grow old or young with the clock on the wall": `${first}; wall+31536000s get => hit 1.0.0 0s; wall-63072000s get => hit 1.0.0 0s; asked => 1`,
    "is served with its age while the origin fails, which is asked only now and then": `${first}; +300s outage get => stale 1.0.0 300s; +4.999s get => stale 1.0.0 304.999s; asked => 2; +0.001s get => stale 1.0.0 305s; asked => 3; +5s 2.0.0 get => fetched 2.0.0 0s; get => hit 2.0.0 0s`,
    "is served so up to staleFor and not beyond": `${first}; outage +3600s get => stale 1.0.0 3600s; +5.001s get => origin-unreachable; get => origin-unreachable; asked => 4`,
    "is never absence where the origin fails":
      "outage get => origin-unreachable; timeout get => origin-timeout; busy get => origin-busy; 1.0.0 get => fetched 1.0.0 0s",
    "does not hide a refusal": `${first}; +300s refused get => signature-refused`,
    "is given at once, and the failure of the origin told from the second answer on": `${first}; +300s outage now => hit 1.0.0 300s; noted now => stale 1.0.0 300s; +4.999s now => stale 1.0.0 304.999s; +0.001s now => stale 1.0.0 305s; asked => 3`,
    "is waited for after an absence": `${first}; +300s absent get => not-found; +30s now => not-found; 2.0.0 +30s now => fetched 2.0.0 0s`,
    "is waited for after a refusal": `${first}; +300s refused get => signature-refused; +30s now => signature-refused; 2.0.0 +30s now => fetched 2.0.0 0s`,
    "is answered although the disk takes nothing more": `full ${first}; get => hit 1.0.0 0s; unwritten => 1; asked => 1`,
    "is absence briefly, until the thing appears":
      "absent get => not-found; +29.999s get => not-found; asked => 1; 1.0.0 +0.001s get => fetched 1.0.0 0s",
    "is absence for as long as whoever asks believes it":
      "absent get => not-found; +0.999s within => not-found; asked => 1; 1.0.0 +0.001s within => fetched 1.0.0 0s",
    "is not served in the place of an absence": `${first}; +300s absent get => not-found`,
    "has after a restart the age since the origin said it": `${first}; +60s open other => hit 1.0.0 60s; asked => 1`,
    "is served after a restart while the origin fails, up to staleFor": `${first}; outage +3600s open other => stale 1.0.0 3600s; +0.001s open other => origin-unreachable`,
    "is not made fresh by a clock that is set back after a start": `${first}; +300s open wall-300s other => fetched 1.0.0 0s; asked => 2`,
    "is a hit at any age offline, without a request": `${first}; +36000s offline other => hit 1.0.0 36000s; asked => 1`,
  }),
)("what the origin said %s", async (_, story) => {
  expect(await tell(story)).toBe(story);
});

it.each(["get", "now"])(
  "it is asked for every time when nothing may be kept: %s",
  async (ask) => {
    const story = `${ask} => fetched 1.0.0 0s; 2.0.0 ${ask} => fetched 2.0.0 0s`;
    expect(await tell(story, { versions: 0 })).toBe(story);
  },
);

it("it is waited for by a bounded number, and by new ones afterwards", async () => {
  const { origin, get } = await prepare({ waiters: 2 });
  const { promise, resolve } = Promise.withResolvers<VersionList>();
  origin.answer = promise;
  const asked = [get(), get(), get()];
  await expect(get()).rejects.toThrow(failing("too-busy"));
  resolve(listOf("1.0.0"));
  expect((await Promise.all(asked)).length).toBe(3);
  expect(await get()).toMatchObject({ outcome: "hit", originTime: 0 });
});

it("who does not wait for the origin gets what is on record after a restart, up to staleFor", async () => {
  const { clock, origin, open, get } = await prepare();
  await get();
  clock.pass(limits.staleFor);
  origin.answer = new Promise<VersionList>(() => undefined);
  expect(await open()(true)).toMatchObject({ outcome: "hit" });
  clock.pass(1);
  expect(await Promise.race([open()(true), delay(50, "waits")])).toBe("waits");
});

it("as many are asked for again at once as may wait, and others get what is known", async () => {
  const { clock, origin, get } = await prepare({ waiters: 1 });
  const other = providerAddress("registry.terraform.io", "acme", "other");
  for (const subject of [widget, other]) await get(true, Infinity, subject);
  clock.pass(limits.versions);
  origin.answer = new Promise<VersionList>(() => undefined);
  for (const subject of [widget, other])
    expect(await get(true, Infinity, subject)).toMatchObject({
      outcome: "hit",
    });
  expect(origin.known).toHaveLength(3);
});
