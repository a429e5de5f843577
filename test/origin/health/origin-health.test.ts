import { describe, expect, it } from "vitest";
import { failure } from "../../../src/errors/index.ts";
import {
  type Suspension,
  OriginHealth,
} from "../../../src/origin/health/origin-health.ts";
import { failing } from "../../scenes/failing.ts";

const host = "https://a.example/";
const url = new URL("/v1/providers/acme/widget/versions", host);

/** Makes the health of hosts with a clock that stands still, and notes what it tells. */
function prepare() {
  const time = { now: 1_000 };
  const suspended: Suspension[] = [];
  const resumed: (string | undefined)[] = [];
  const health = new OriginHealth(() => time.now, {
    onSuspended: (suspension) => suspended.push(suspension),
    onResumed: (name, namespace) => resumed.push(namespace ?? name),
  });
  const ask = (outcome: unknown, subject?: string, at = url) =>
    health.admit(at, subject).settle(outcome);
  return { time, health, ask, suspended, resumed };
}

const broken = failure("origin-unreachable", host, "ECONNREFUSED");
const bad = failure("origin-status", host, 500);

describe("a host", () => {
  it("is not asked after five failures in a row, and at 1, 2, 4, 8, 16 and 30 s again", () => {
    const { time, health, ask, suspended } = prepare();
    for (let failure = 1; failure <= 5; failure++) {
      expect(health.isSuspended(url)).toBe(false);
      ask(broken);
    }
    for (const seconds of [1, 2, 4, 8, 16, 30, 30]) {
      time.now += seconds * 1000 - 1;
      expect(() => health.admit(url, undefined)).toThrow(
        failing("origin-suspended"),
      );
      time.now += 1;
      ask(broken);
    }
    expect(suspended.map(({ milliseconds }) => milliseconds / 1000)).toEqual([
      1, 2, 4, 8, 16, 30, 30, 30,
    ]);
    expect(health.suspended).toBe(1);
  });

  it("is asked by one probe at a time, and by everybody after one success", () => {
    const { time, health, ask, resumed } = prepare();
    for (let failure = 1; failure <= 5; failure++) ask(broken);
    time.now += 1_000;
    const probe = health.admit(url, undefined);
    expect(() => health.admit(url, undefined)).toThrow(/another 1 s/);
    time.now += 60_000;
    expect(() => health.admit(url, undefined)).toThrow(
      failing("origin-suspended"),
    );
    probe.settle(undefined);
    expect(resumed).toEqual(["a.example:443"]);
    for (let failure = 1; failure <= 4; failure++) ask(broken);
    expect(health.isSuspended(url)).toBe(false);
    ask(broken);
    expect(health.isSuspended(url)).toBe(true);
    time.now += 1_000;
    ask(undefined);
  });

  it.each([
    failure("origin-status", host, 404),
    failure("not-found", "acme/widget"),
    new Error("ours"),
  ])("is not suspended by %s", (outcome) => {
    const { health, ask } = prepare();
    for (let failure = 1; failure <= 20; failure++) ask(outcome);
    expect(health.isSuspended(url)).toBe(false);
  });

  it.each([broken, failure("origin-timeout", host, "no first byte"), bad])(
    "is suspended by %s",
    (outcome) => {
      const { health, ask } = prepare();
      for (let failure = 1; failure <= 5; failure++) ask(outcome);
      expect(health.isSuspended(url)).toBe(true);
    },
  );

  it("is forgotten when thousands of others come", () => {
    const { health, ask } = prepare();
    for (let failure = 1; failure <= 5; failure++) ask(broken);
    for (let name = 0; name < 5_000; name++)
      ask(broken, undefined, new URL(`https://h${name}.example/`));
    expect(health.isSuspended(url)).toBe(false);
  });
});

describe("5xx for one namespace", () => {
  const [one, two, other] = [
    "r.example/evil/x",
    "r.example/evil/y",
    "r.example/acme/net",
  ];

  it("suspend nothing, however many of its providers fail", () => {
    const { health, ask, suspended } = prepare();
    for (let failure = 1; failure <= 20; failure++)
      ask(bad, failure % 2 === 0 ? one : two);
    ask(undefined, other);
    ask(undefined, one);
    expect(suspended).toEqual([]);
    expect(health.suspended).toBe(0);
  });

  it("with another one suspend the host, and both are asked again after it", () => {
    const { time, health, ask } = prepare();
    for (let failure = 1; failure <= 5; failure++) ask(bad, one);
    ask(bad, other);
    for (const subject of [one, other, undefined])
      expect(() => health.admit(url, subject)).toThrow(
        failing("origin-suspended"),
      );
    time.now += 1_000;
    ask(undefined, other);
    ask(undefined, one);
    expect(health.suspended).toBe(0);
  });
});

describe("a host that asks for a pause", () => {
  it.each([30, 1, 300])("of %i s is not asked for so long", (seconds) => {
    const { time, health, ask } = prepare();
    let asked = 0;
    for (const end = time.now + 3_600_000; time.now < end; time.now += 500)
      try {
        ask(failure("origin-busy", host, seconds));
        asked++;
      } catch (error) {
        expect(error).toEqual(failing("origin-busy"));
      }
    expect(asked).toBe(3_600 / seconds);
    expect(health.suspended).toBe(1);
  });

  it("is probed after it by one request", () => {
    const { time, health, ask } = prepare();
    ask(failure("origin-busy", host, 30));
    time.now += 30_000;
    const probe = health.admit(url, "a");
    expect(() => health.admit(url, "b")).toThrow(failing("origin-busy"));
    probe.settle(undefined);
    ask(undefined, "b");
  });

  it("without a time is given its own: 1, 2, 4 s and so on", () => {
    const { time, health, ask } = prepare();
    for (const seconds of [1, 2, 4]) {
      ask(failure("origin-busy", host, undefined));
      expect(() => health.admit(url, undefined)).toThrow(
        failing("origin-busy"),
      );
      time.now += seconds * 1000;
    }
    ask(undefined);
  });
});

describe("a publisher who asks for a pause", () => {
  const evil = "registry.example.com/evil/x";
  const [net, dns] = [
    "registry.example.com/acme/net",
    "registry.example.com/other/dns",
  ];

  it("pauses what is asked of that host for its own namespace, and nothing else", () => {
    const { time, health, ask, suspended } = prepare();
    ask(failure("origin-busy", host, 300), evil);
    expect(() => health.admit(url, evil)).toThrow(failing("origin-busy"));
    expect(health.isSuspended(url)).toBe(false);
    for (const subject of [net, dns, undefined]) ask(undefined, subject);
    time.now += 299_999;
    expect(() => health.admit(url, evil)).toThrow(/in 1 s/);
    ask(undefined, net);
    time.now += 1;
    ask(undefined, evil);
    expect(health.isSuspended(url)).toBe(false);
    expect(suspended).toEqual([
      {
        host: "a.example:443",
        namespace: "registry.example.com/evil",
        milliseconds: 300_000,
        reason: "origin-busy",
      },
    ]);
  });

  it.each([
    ["providers", evil, "registry.example.com/evil/y"],
    ["modules", "a.example/evil/m/aws", "a.example/evil/n/aws"],
    ["repositories", "https://g.example/evil/m", "https://g.example/evil/n"],
  ])("does not pause the host by two %s of one namespace", (_, one, two) => {
    const { health, ask } = prepare();
    const [first, second] = [health.admit(url, one), health.admit(url, two)];
    first.settle(failure("origin-busy", host, 300));
    second.settle(failure("origin-busy", host, 300));
    expect(() => health.admit(url, two)).toThrow(failing("origin-busy"));
    ask(undefined, net);
  });

  it("with another one pauses the host, for no longer than both were asked", () => {
    const { time, health, ask, suspended } = prepare();
    ask(failure("origin-busy", host, 300), evil);
    ask(failure("origin-busy", host, 5), net);
    for (const subject of [evil, net, dns, undefined])
      expect(() => health.admit(url, subject)).toThrow(failing("origin-busy"));
    expect(suspended.at(-1)).toMatchObject({
      namespace: undefined,
      milliseconds: 5_000,
    });
    time.now += 5_000;
    ask(undefined, dns);
    for (const subject of [evil, net, undefined]) ask(undefined, subject);
  });
});
