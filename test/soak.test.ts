import { execFile } from "node:child_process";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import {
  floorOf,
  lateSlopeOf,
  secondHourOf,
  slopePerHour,
  trendOf,
} from "../soak/trend.ts";

const program = join(import.meta.dirname, "..", "soak", "soak.ts");

it(
  "a soak of a few seconds finds nothing wrong",
  { timeout: 120_000 },
  async () => {
    const { status, stdout } = await new Promise<{
      readonly status: number | null;
      readonly stdout: string;
    }>((resolve) => {
      const child = execFile(
        process.execPath,
        [program, "--minutes", "0.05"],
        (_, printed) => resolve({ status: child.exitCode, stdout: printed }),
      );
    });
    expect(stdout).toMatch(/^ {2}wrong bytes +0 +≤ 0: met$/m);
    expect(stdout).not.toContain("NOT MET");
    expect(status).toBe(0);
  },
);

it("the slope of a line is its rise in an hour, under any noise", () => {
  const swing = [0, 3, 0, -3];
  const samples = Array.from(
    { length: 400 },
    (_, second) =>
      [second * 1_000, 100 + second / 60 + (swing[second % 4] ?? 0)] as const,
  );
  expect(slopePerHour(samples)).toBeCloseTo(60, 0);
});

it("garbage that is collected in time is no growth", () => {
  const samples = Array.from(
    { length: 600 },
    (_, second) => [second * 1_000, 100 + (second % 7)] as const,
  );
  expect(floorOf(samples, 10_000).every(([, value]) => value === 100)).toBe(
    true,
  );
  expect(trendOf(samples)).toMatchObject({ first: 100, most: 106, growth: 0 });
});

it("a short run tells no slope", () => {
  expect(
    trendOf([
      [0, 100],
      [100_000, 900],
    ]).growth,
  ).toBeUndefined();
});

describe("a run of two hours", () => {
  const samples = (valueAt: (minute: number) => number) =>
    Array.from(
      { length: 7_200 },
      (_, second) => [second * 1_000, valueAt(second / 60)] as const,
    );

  it("may fill its caches in the first half hour", () => {
    const run = samples((minute) => 200 + Math.min(minute, 30));
    expect(lateSlopeOf(run)).toBeCloseTo(0);
    expect(secondHourOf(run)).toBeCloseTo(0);
    expect(lateSlopeOf(run.slice(0, 3_600))).toBeCloseTo(0);
  });

  it("is found by what the process holds later", () => {
    const run = samples((minute) => 200 + minute / 2);
    expect(lateSlopeOf(run)).toBeCloseTo(30);
    expect(secondHourOf(run)).toBeCloseTo(30);
  });

  it("is no run of ten minutes", () => {
    const run = samples((minute) => 200 + minute).slice(0, 600);
    expect([lateSlopeOf(run), secondHourOf(run)]).toEqual([
      undefined,
      undefined,
    ]);
  });
});
