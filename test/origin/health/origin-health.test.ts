import { describe, expect, it } from "vitest";
import { failure } from "../../../src/errors/index.ts";
import { failing } from "../../scenes/failing.ts";
import { host, prepareHealth as prepare, url } from "./health-scene.ts";

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

  it("is probed by the next one when a probe is given up", () => {
    const { time, health, ask } = prepare();
    for (let failure = 1; failure <= 5; failure++) ask(broken);
    time.now += 1_000;
    health.admit(url, undefined).abandon();
    ask(undefined);
    expect(health.isSuspended(url)).toBe(false);
  });

  it("is not suspended by failures with a success between them", () => {
    const { health, ask } = prepare();
    for (let failure = 1; failure <= 20; failure++)
      ask(failure % 5 === 0 ? undefined : broken);
    expect(health.isSuspended(url)).toBe(false);
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

  it("closes for no answer to what was asked before it was suspended", () => {
    const { health, ask } = prepare();
    const [early, late] = [health.admit(url, "a"), health.admit(url, "b")];
    for (let failure = 1; failure <= 5; failure++) ask(broken);
    early.settle(undefined);
    expect(health.isSuspended(url)).toBe(true);
    late.settle(broken);
    expect(() => health.admit(url, undefined)).toThrow(/another 1 s/);
  });

  it("says nothing about another one, nor about another port", () => {
    const { health, ask } = prepare();
    for (let failure = 1; failure <= 5; failure++) ask(broken);
    expect(health.isSuspended(new URL("https://b.example/"))).toBe(false);
    expect(health.isSuspended(new URL("https://a.example:8443/"))).toBe(false);
    expect(health.isSuspended(new URL("https://a.example:443/x"))).toBe(true);
  });

  it("is forgotten when thousands of others come", () => {
    const { health, ask } = prepare();
    for (let failure = 1; failure <= 5; failure++) ask(broken);
    for (let name = 0; name < 5_000; name++)
      ask(broken, undefined, new URL(`https://h${name}.example/`));
    expect(health.isSuspended(url)).toBe(false);
  });
});

describe("one provider whose documents fail", () => {
  it("is suspended alone", () => {
    const { time, health, ask, suspended, resumed } = prepare();
    for (let failure = 1; failure <= 5; failure++) ask(bad, "acme/bad");
    expect(() => health.admit(url, "acme/bad")).toThrow(
      failing("origin-suspended"),
    );
    ask(undefined, "acme/good");
    ask(undefined);
    expect(suspended).toEqual([
      {
        host: "a.example:443",
        subject: "acme/bad",
        milliseconds: 1_000,
        reason: "status 500",
      },
    ]);
    time.now += 1_000;
    ask(undefined, "acme/bad");
    expect(resumed).toEqual(["acme/bad"]);
    ask(bad, "acme/bad");
  });

  it("with another one suspends the host, and both are asked again after it", () => {
    const { time, health, ask } = prepare();
    for (let failure = 1; failure <= 5; failure++) ask(bad, "acme/one");
    ask(bad, "acme/two");
    expect(() => health.admit(url, "acme/three")).toThrow(
      failing("origin-suspended"),
    );
    time.now += 1_000;
    ask(undefined, "acme/three");
    ask(undefined, "acme/one");
    expect(health.suspended).toBe(0);
  });

  it("does not suspend the host with those that are well in between", () => {
    const { time, health, ask } = prepare();
    for (let round = 1; round <= 50; round++) {
      time.now += 60_000;
      ask(bad, "acme/bad");
      if (round % 3 === 0) ask(undefined, "acme/good");
    }
    expect(health.isSuspended(url)).toBe(false);
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

  it("is not asked earlier because a later answer asks for less", () => {
    const { time, health } = prepare();
    const [first, second] = [
      health.admit(url, undefined),
      health.admit(url, undefined),
    ];
    first.settle(failure("origin-busy", host, 60));
    second.settle(failure("origin-busy", host, 1));
    time.now += 59_999;
    expect(() => health.admit(url, undefined)).toThrow(failing("origin-busy"));
    time.now += 1;
    health.admit(url, undefined).settle(undefined);
  });

  it("is not asked earlier because its probe was answered after another pause", () => {
    const { time, health, ask } = prepare();
    const slow = health.admit(url, undefined);
    ask(failure("origin-busy", host, 1));
    time.now += 1_000;
    const probe = health.admit(url, "a");
    slow.settle(failure("origin-busy", host, 60));
    probe.settle(undefined);
    expect(() => health.admit(url, undefined)).toThrow(failing("origin-busy"));
  });
});
