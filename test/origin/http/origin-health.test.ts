import { describe, expect, it } from "vitest";
import { failure } from "../../../src/errors/index.ts";
import { OriginHealth } from "../../../src/origin/http/origin-health.ts";
import { parseRetryAfter } from "../../../src/origin/http/http-failure.ts";
import { failing } from "../../scenes/failing.ts";

const host = "https://a.example/";
const url = new URL("/v1/providers/acme/widget/versions", host);

/** Makes the health of hosts with a clock that stands still, and notes what it tells. */
function prepare() {
  const time = { now: 1_000 };
  const suspended: { readonly milliseconds: number }[] = [];
  const resumed: string[] = [];
  const health = new OriginHealth(() => time.now, {
    onSuspended: (suspension) => suspended.push(suspension),
    onResumed: (name) => resumed.push(name),
  });
  const ask = (outcome: unknown, at = url) => health.admit(at).settle(outcome);
  const fail = (times: number, outcome: unknown = broken) => {
    for (let time = 1; time <= times; time++) ask(outcome);
    return health.isSuspended(url);
  };
  return { time, health, ask, fail, suspended, resumed };
}

const broken = failure("origin-unreachable", host, "ECONNREFUSED");

describe("a host", () => {
  it("is not asked after five failures in a row, and at 1, 2, 4, 8, 16 and 30 s again", () => {
    const { time, health, ask, fail, suspended } = prepare();
    expect(fail(4)).toBe(false);
    expect(fail(1)).toBe(true);
    for (const seconds of [1, 2, 4, 8, 16, 30, 30]) {
      time.now += seconds * 1000 - 1;
      expect(() => health.admit(url)).toThrow(failing("origin-suspended"));
      time.now += 1;
      ask(broken);
    }
    expect(suspended.map(({ milliseconds }) => milliseconds / 1000)).toEqual([
      1, 2, 4, 8, 16, 30, 30, 30,
    ]);
    expect(health.suspended).toBe(1);
  });

  it("is asked by one probe at a time, and by everybody after one success", () => {
    const { time, health, ask, fail, resumed } = prepare();
    fail(5);
    time.now += 1_000;
    const probe = health.admit(url);
    expect(() => health.admit(url)).toThrow(/another 1 s/);
    time.now += 60_000;
    expect(() => health.admit(url)).toThrow(failing("origin-suspended"));
    probe.settle(undefined);
    expect(resumed).toEqual(["a.example:443"]);
    expect(fail(4)).toBe(false);
    expect(fail(1)).toBe(true);
    time.now += 1_000;
    ask(undefined);
  });

  it.each<[unknown, boolean]>([
    [broken, true],
    [failure("origin-timeout", host, "no first byte"), true],
    [failure("origin-status", host, 500), true],
    [failure("origin-status", host, 404), false],
    [new Error("ours"), false],
  ])("after %s is suspended: %s", (outcome, isSuspended) => {
    expect(prepare().fail(5, outcome)).toBe(isSuspended);
  });

  it("is forgotten when thousands of others come", () => {
    const { health, ask, fail } = prepare();
    fail(5);
    for (let name = 0; name < 5_000; name++)
      ask(broken, new URL(`https://h${name}.example/`));
    expect(health.isSuspended(url)).toBe(false);
  });
});

describe("a host that asks for a pause", () => {
  it("is not asked for so long, nor for less when it asks for that then", () => {
    const { time, health, ask } = prepare();
    const late = health.admit(url);
    ask(failure("origin-busy", host, 300));
    late.settle(failure("origin-busy", host, 5));
    time.now += 299_999;
    expect(() => health.admit(url)).toThrow(/in 1 s/);
    expect(health.suspended).toBe(1);
    time.now += 1;
    ask(undefined);
  });

  it("without a time is given its own: 1, 2, 4 s and so on", () => {
    const { time, health, ask } = prepare();
    for (const seconds of [1, 2, 4]) {
      ask(failure("origin-busy", host, undefined));
      expect(() => health.admit(url)).toThrow(failing("origin-busy"));
      time.now += seconds * 1000;
    }
    ask(undefined);
  });
});

describe("Retry-After", () => {
  const now = new Date("2026-01-01T00:00:00Z");
  const minutes = 60_000;

  it.each<[string, number?]>([
    ["0", 1_000],
    ["30", 30_000],
    ["3600", 5 * minutes],
    ["9".repeat(400), 5 * minutes],
    ["Thu, 01 Jan 2026 00:00:30 GMT", 30_000],
    ["Thursday, 01-Jan-26 00:00:30 GMT", 30_000],
    ["Mon, 01 Jan 1990 00:00:00 GMT", 1_000],
    ["Fri, 01 Jan 2038 00:00:00 GMT", 5 * minutes],
    ...["", "-1", "1.5", "soon", "30 seconds"].map((text): [string] => [text]),
  ])("takes %s, from one second to five minutes, as %s ms", (text, ms) => {
    expect(parseRetryAfter(text, now)).toBe(ms);
  });
});
