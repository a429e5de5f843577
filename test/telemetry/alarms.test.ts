import { beforeEach, expect, it, onTestFinished, vi } from "vitest";
import { Alarms } from "../../src/telemetry/alarms.ts";
import { makeLogger } from "../../src/telemetry/logger.ts";
import { Metrics } from "../../src/telemetry/metrics.ts";

const kind = "record-unreadable";
let metrics: Metrics;
let alarms: Alarms;

beforeEach(() => {
  metrics = new Metrics("");
  const logger = makeLogger({ level: "silent" as "fatal" });
  alarms = new Alarms(logger, metrics);
});

async function count(of: string): Promise<number> {
  const { text } = await metrics.render();
  const line = new RegExp(`alarms_total\\{kind="${of}"\\} (\\d+)`);
  return Number(line.exec(text)?.[1]);
}

it("counts the same facts of a kind once, whatever comes between, and again after the window", async () => {
  vi.useFakeTimers({ toFake: ["performance"] });
  onTestFinished(() => void vi.useRealTimers());
  const raiseAll = () => {
    for (const archive of ["a.zip", "b.zip"])
      for (const one of [kind, "archive-tampered"] as const)
        alarms.raise(one, { archive, reported: ["h1:a"], computed: "h1:b" });
  };
  for (let time = 0; time < 100; time++) raiseAll();
  expect(await count(kind)).toBe(2);
  vi.advanceTimersByTime(600_000);
  raiseAll();
  expect(await count(kind)).toBe(4);
  expect(await count("archive-tampered")).toBe(4);
});

it("counts everything that is new, also what has no line left", async () => {
  for (let n = 0; n < 2_000; n++) alarms.raise(kind, { archive: `${n}.zip` });
  expect(await count(kind)).toBe(2_000);
});

const knot: unknown[] = [];
knot.push(knot);

it.each([
  ["a value that holds itself", knot],
  ["an object of no class", Object.create(null) as unknown],
  ["a number that JSON does not know", 10n],
])("is raised, once, for %s", async (_, err) => {
  for (const where of ["request", "request"])
    alarms.raise("unexpected-error", { where, err });
  expect(await count("unexpected-error")).toBe(1);
});
