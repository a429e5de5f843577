import { describe, expect, it } from "vitest";
import { failure } from "../../../src/errors/index.ts";
import { failing } from "../../scenes/failing.ts";
import { host, prepareHealth as prepare, url } from "./health-scene.ts";

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
    expect(health.isSuspended(url, evil)).toBe(true);
    expect(health.isSuspended(url, net)).toBe(false);
    for (const subject of [net, dns, undefined]) ask(undefined, subject);
    time.now += 299_999;
    expect(() => health.admit(url, evil)).toThrow(/in 1 s/);
    ask(undefined, net);
    time.now += 1;
    ask(undefined, evil);
    expect(health.isSuspended(url, evil)).toBe(false);
    expect(suspended).toEqual([
      {
        host: "a.example:443",
        subject: "registry.example.com/evil",
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
      subject: undefined,
      milliseconds: 5_000,
    });
    time.now += 5_000;
    ask(undefined, dns);
    for (const subject of [net, undefined]) ask(undefined, subject);
    expect(() => health.admit(url, evil)).toThrow(/in 295 s/);
  });

  it("does not keep the host paused by being the first who asks again", () => {
    const { time, health, ask } = prepare();
    ask(failure("origin-busy", host, 1), evil);
    ask(failure("origin-busy", host, 1), net);
    time.now += 1_000;
    ask(failure("origin-busy", host, 300), evil);
    ask(undefined, net);
    ask(undefined, dns);
    expect(health.suspended).toBe(0);
  });

  it("does not pause the host together with one whose pause is over", () => {
    const { time, health, ask } = prepare();
    ask(failure("origin-busy", host, 1), net);
    time.now += 1_000;
    ask(failure("origin-busy", host, 300), evil);
    expect(health.isSuspended(url, dns)).toBe(false);
  });
});
