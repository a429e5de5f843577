import { describe, expect, it } from "vitest";
import { parseProviderPattern } from "../../../src/address/policy-pattern.ts";
import { parseVersion } from "../../../src/address/version.ts";
import { digestOf } from "../../../src/mirror/releases/evidence.ts";
import { decide } from "../../../src/trust/decisions.ts";
import type { Fate } from "../../scenes/failing-writes.ts";
import {
  acme,
  freshness,
  makeSigners,
  MirrorScene,
  prepareMet,
  prepareUnasked,
} from "../../scenes/mirror-in-process.ts";
import { TestRegistry, writeChecksums } from "../../scenes/test-registry.ts";

const { K, E } = await makeSigners();

const { fingerprint } = E;
const everywhere = { fingerprint, type: null, version: null };
const third = { content: "linux=c" };
const sha256sums = digestOf(writeChecksums(acme, parseVersion("3.0.0"), third));
const isOfRelease = (name: string) =>
  name.startsWith("releases/") && name.endsWith("/2.0.0");
const seen = "first-seen accepted 2.0.0";
const isDecisive = (name: string) =>
  isOfRelease(name) || name.startsWith("audit");

describe("a first answer", () => {
  it.each(["ENOSPC", "EIO"])(
    "is not given while the store takes no release (%s), and 503 says why",
    async (code) => {
      const { scene } = await prepareUnasked(K);
      const mirror = scene.start();
      mirror.writes.let(
        (name) => (isOfRelease(name) ? "fails" : undefined),
        code,
      );
      expect(await mirror.version("2.0.0")).toBe(
        `store-full: ${code}: as the test says`,
      );
      expect(scene.audited()).not.toContain(seen);
    },
  );

  const fates: readonly Fate[] = ["fails", "dies before", "dies after"];
  const steps = [1, 2, 3].flatMap((step) =>
    fates.map((fate) => [step, fate] as const),
  );

  it.each(steps)(
    "whose write %i %s is not given, and is whole or was never made",
    async (step, fate) => {
      const { scene, registry, clock } = await prepareUnasked(K);
      const mirror = scene.start();
      let count = 0;
      mirror.writes.let((name) => {
        const isOne = isDecisive(name) || (count === 2 && name === "commit");
        return isOne && ++count === step ? fate : undefined;
      });
      const said = await mirror.version("2.0.0").catch(() => "killed");
      expect(said).not.toBe("linux=b");
      expect(count).toBeGreaterThanOrEqual(step);
      const isPinned = step === 3 && fate === "dies after";
      registry.offer("2.0.0", { content: "linux=c", by: K });
      clock.pass(freshness);
      const later = scene.start();
      const expected = isPinned ? "linux=b" : "linux=c";
      expect(await later.version("2.0.0")).toBe(expected);
      const noted = scene.audited().filter((line) => line === seen);
      expect(noted).toHaveLength(1);
    },
  );

  it("that many clients request at once is written and reported once", async () => {
    const { scene } = await prepareUnasked(K);
    const mirror = scene.start();
    const asked = Array.from({ length: 20 }, () => mirror.version("2.0.0"));
    expect(new Set(await Promise.all(asked))).toEqual(new Set(["linux=b"]));
    expect(mirror.writes.names.filter(isDecisive)).toHaveLength(2);
  });
});

describe("two processes that meet a release at once", () => {
  /** The second one goes on only when the first one has answered; it is held at its pin, or while it asks. */
  async function race(content: string, where: "pin" | "question") {
    const { scene } = await prepareUnasked(K);
    const other = new TestRegistry();
    other.offer("1.0.0", { content: "linux=a", by: K });
    other.offer("2.0.0", { content, by: K });
    const [one, two] = [scene.start(), scene.start({}, other)];
    const held = two.writes.hold(isOfRelease);
    const free = where === "pin" ? held.free : other.hold("sums thing 2.0.0");
    const late = two.version("2.0.0");
    if (where === "pin") await held.reached;
    const first = await one.version("2.0.0");
    held.free();
    free();
    return { scene, first, late: await late, two };
  }

  it.each(["pin", "question"] as const)(
    "give what was written first, and the other content is a candidate (%s)",
    async (where) => {
      const { scene, first, late, two } = await race("linux=c", where);
      expect([first, late]).toEqual(["linux=b", "linux=b"]);
      expect(await scene.start().version("2.0.0")).toBe("linux=b");
      expect(await two.candidates()).toEqual(["2.0.0 other-content"]);
      expect(two.alarmed()).toEqual(["release-replaced 2.0.0"]);
      const noted = scene.audited().filter((line) => line.includes("2.0.0"));
      expect(noted.toSorted()).toEqual([seen, "replaced refused 2.0.0"]);
    },
  );

  it.each(["pin", "question"] as const)(
    "give the platforms of both where they agree (%s)",
    async (where) => {
      const wider = await race("linux=b darwin=d", where);
      expect([wider.first, wider.late]).toEqual([
        "linux=b",
        "darwin=d linux=b",
      ]);
      const later = wider.scene.start();
      expect(await later.version("2.0.0")).toBe("darwin=d linux=b");
      expect(await later.candidates()).toEqual([]);
    },
  );
});

it("a key becomes a provider's own with the release that it signed, or not at all, and is told", async () => {
  const scene = await MirrorScene.prepare({ signatures: "when-published" });
  const { registry, clock } = scene;
  registry.offer("1.0.0", { content: "linux=a" });
  const mirror = scene.start();
  expect(await mirror.version("1.0.0")).toBe("linux=a");
  const ask = (version: string, content: string) => {
    registry.offer(version, { content, by: E });
    clock.pass(freshness);
    return mirror.version(version);
  };
  mirror.writes.let((name) => (isOfRelease(name) ? "fails" : undefined));
  expect(await ask("2.0.0", "linux=b")).toMatch("store-full");
  registry.remove("2.0.0");
  expect(await ask("3.0.0", "linux=c")).toBe("linux=c");
  expect(await ask("4.0.0", "linux=d")).toBe("linux=d");
  expect(mirror.alarmed()).toEqual(["key-new 3.0.0"]);
});

it("of two keys that sign first, in two processes at once, the one that is written first is the provider's own", async () => {
  const scene = await MirrorScene.prepare({ signatures: "when-published" });
  const { registry, clock } = scene;
  registry.offer("1.0.0", { content: "linux=a" });
  expect(await scene.start().version("1.0.0")).toBe("linux=a");
  registry.offer("2.0.0", { content: "linux=b", by: K });
  registry.offer("3.0.0", { content: "linux=c", by: E });
  clock.pass(freshness);
  const [one, two] = [scene.start(), scene.start()];
  const held = two.writes.hold((name) => name.endsWith("/3.0.0"));
  const late = two.version("3.0.0");
  await held.reached;
  expect(await one.version("2.0.0")).toBe("linux=b");
  held.free();
  expect(await late).toBe("key-refused: unknown");
  const alarms = [...one.alarmed(), ...two.alarmed()];
  expect(alarms).toEqual(["key-new 2.0.0", "key-refused 3.0.0"]);
});

it("a version that no list ever showed, while none can be had, is too young for any date of its signature", async () => {
  const day = 86_400_000;
  const scene = await MirrorScene.prepare({ minimumAge: 7 * day });
  const { registry, clock } = scene;
  const signedAt = new Date("2021-01-01T00:00:00Z");
  const offered = { content: "linux=a", by: K, signedAt };
  registry.offer("1.0.0", offered);
  const mirror = scene.start();
  expect(await mirror.version("1.0.0")).toBe("linux=a");
  registry.offer("1.1.0", offered);
  registry.fail("list");
  // The provider is old enough, and its version may have come out this minute.
  clock.pass(8 * day);
  expect(await mirror.version("1.1.0")).toBe("too-young");
  registry.heal();
  clock.pass(freshness);
  expect(await mirror.index()).toBe("1.0.0");
  expect(await mirror.version("1.1.0")).toBe("too-young");
  clock.pass(7 * day);
  expect(await mirror.index()).toBe("1.1.0 1.0.0");
});

it("under newKeys: refuse nothing is listed or served but what configured keys signed, whose first contact raises no alarm", async () => {
  const scene = await MirrorScene.prepare({ newKeys: "refuse" });
  scene.registry.offer("1.0.0", { content: "linux=a", by: K });
  scene.registry.offer("1.0.0", { content: "linux=b", by: E }, "other");
  const mirror = scene.start();
  const pattern = parseProviderPattern("*/acme/other");
  const pins = [{ pattern, fingerprints: [E.fingerprint] }];
  mirror.admission.replaceRules({ ...mirror.admission.rules, pins });
  expect(await mirror.index()).toBe("nothing-admitted");
  expect(await mirror.version("1.0.0")).toBe("key-refused: not-pinned");
  expect(await mirror.version("1.0.0", "other")).toBe("linux=b");
  expect(mirror.alarmed()).toEqual(["key-refused 1.0.0"]);
});

it("a version of first contact that nobody asked for is left out once its key is revoked", async () => {
  const { scene, registry, clock } = await prepareUnasked(K);
  registry.offer("0.9.0", { content: "linux=a", by: E }, "other");
  registry.offer("1.0.0", { content: "linux=a", by: K }, "other");
  const mirror = scene.start();
  expect(await mirror.index("other")).toBe("1.0.0 0.9.0");
  const at = clock.now().toISOString();
  await mirror.trust.decide(acme, (decisions) =>
    decide(decisions, { ...everywhere, decision: "revoked", at }),
  );
  expect(await mirror.index("other")).toBe("1.0.0");
});

it.each([
  ["unknown", undefined],
  ["revoked", everywhere],
  ["revoked-content", { type: "thing", version: "3.0.0", sha256sums }],
])(
  "a version that is held back as %s is told once, with a command only where no decision is against it",
  async (reason, subject) => {
    const { registry, clock, mirror, scene } = await prepareMet(K);
    const at = clock.now().toISOString();
    if (subject !== undefined)
      await mirror.trust.decide(acme, (decisions) =>
        decide(decisions, { ...subject, decision: "revoked", at }),
      );
    const by = reason === "revoked-content" ? K : E;
    registry.offer("3.0.0", { ...third, by });
    for (let times = 0; times < 2; times++) {
      clock.pass(freshness);
      await mirror.version("3.0.0");
      expect(await mirror.index()).toBe("2.0.0 1.0.0");
    }
    const lines = scene
      .readAudit()
      .filter(({ event }) => event === "quarantined");
    expect(lines).toMatchObject([
      {
        ...{ verdict: "refused", rule: `trust: ${reason}`, version: "3.0.0" },
        ...{ fingerprint: by.fingerprint, detail: `SHA256SUMS ${sha256sums}` },
      },
    ]);
    const approve = `provender trust approve registry.terraform.io/acme/thing@3.0.0 ${sha256sums.slice(0, 16)}`;
    const told = mirror.alarmLines().map((one) => [one.alarm, one.approve]);
    expect(told).toEqual(
      reason === "revoked-content"
        ? []
        : [["key-refused", subject === undefined ? approve : undefined]],
    );
  },
);
