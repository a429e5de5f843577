import { describe, expect, it } from "vitest";
import { RecordUnreadable, StoreFull } from "../../../src/errors/index.ts";
import {
  noDecisions,
  nothingSeen,
} from "../../../src/mirror/trust/namespace-trust.ts";
import { key, lesson, trustOf } from "../../scenes/key-questions.ts";
import {
  asItIs,
  decisionsKey,
  prepareLedger,
  releaseKey,
  revokeK,
  seenKey,
  withLesson,
} from "../../scenes/ledger-scene.ts";

describe("what is known of a namespace", () => {
  it("is nothing at first, and asking writes nothing", async () => {
    const { entry, records } = await prepareLedger();
    expect(() => entry.trust).toThrow("renew was not awaited");
    expect(await entry.renew()).toEqual({
      seen: nothingSeen,
      decisions: noDecisions,
    });
    expect(await records.read(seenKey, asItIs)).toBeUndefined();
  });

  it("has at once what this process notes, and on the disk", async () => {
    const { entry, open } = await prepareLedger();
    await entry.renew();
    expect(await entry.noteSeen(withLesson("K"))).toEqual(nothingSeen);
    expect(entry.trust.seen.lessons).toEqual([lesson("K")]);
    expect((await open().renew()).seen.lessons).toEqual([lesson("K")]);
    const before = await entry.noteSeen(withLesson("L"));
    expect(before.lessons).toEqual([lesson("K")]);
  });

  it("has what others noted, and loses none of it", async () => {
    const { entry, open } = await prepareLedger();
    const other = open();
    await Promise.all([entry.renew(), other.renew()]);
    await other.noteSeen(withLesson("K"));
    const before = await entry.noteSeen(withLesson("L"));
    expect(before.lessons).toEqual([lesson("K")]);
    expect(entry.trust.seen.lessons).toEqual([lesson("K"), lesson("L")]);
  });

  it.each([
    [499, false],
    [500, true],
  ])("of other processes is looked at after %i ms: %s", async (after, sees) => {
    const { entry, open, pass } = await prepareLedger();
    await entry.renew();
    const known = entry.trust;
    await open().noteSeen(withLesson("K"));
    pass(after);
    await entry.renew();
    expect(entry.trust.seen.lessons).toHaveLength(sees ? 1 : 0);
    expect(entry.trust === known).toBe(!sees);
  });

  it("is looked at as soon as before though this process noted something", async () => {
    const { entry, open, pass } = await prepareLedger();
    await entry.renew();
    pass(499);
    await entry.noteSeen((seen) => seen);
    await open().decide(revokeK);
    pass(1);
    await entry.renew();
    expect(entry.trust.decisions.keys).toHaveLength(1);
  });

  it("is the same object while nothing changes", async () => {
    const { entry, pass } = await prepareLedger();
    await entry.noteSeen(withLesson("K"));
    const { trust } = entry;
    pass(1_000);
    expect(await entry.renew()).toBe(trust);
    await entry.noteSeen((seen) => seen);
    expect(entry.trust).toBe(trust);
  });

  it("keeps what it noted when a look at the disk began before", async () => {
    const { entry, pass, holdReads } = await prepareLedger();
    await entry.noteSeen(withLesson("K"));
    pass(1_000);
    const release = holdReads();
    const renewal = entry.renew();
    await entry.noteSeen(withLesson("L"));
    release();
    await renewal;
    expect(entry.trust.seen.lessons).toEqual([lesson("K"), lesson("L")]);
  });

  it("is read once for all who ask at once", async () => {
    const { entry, pass, reads } = await prepareLedger();
    await entry.renew();
    reads.length = 0;
    pass(500);
    await Promise.all(Array.from({ length: 32 }, async () => entry.renew()));
    expect(reads).toEqual([seenKey, decisionsKey]);
  });

  it("weighs more the more it is", async () => {
    const { entry } = await prepareLedger();
    expect(entry.weight).toBe(1_000);
    const { seen } = trustOf({
      keys: [key("K", "provider")],
      lessons: [lesson("K"), lesson("L", "other")],
    });
    await entry.noteSeen(() => seen);
    expect(entry.weight).toBe(1_900);
    await entry.decide(revokeK);
    expect(entry.weight).toBe(2_200);
  });
});

it.each([
  ["ENOSPC", StoreFull],
  ["EIO", StoreFull],
  ["ENOENT", undefined],
])("a note that fails with %s is refused as such", async (code, expected) => {
  const { entry, records } = await prepareLedger();
  await entry.begin();
  const failure = Object.assign(new Error(code), { code, syscall: "write" });
  records.change = () => Promise.reject(failure);
  const noted = entry.noteSeen(withLesson("K"));
  await expect(noted).rejects.toThrow(expected ?? failure);
  expect(entry.trust.seen).toEqual(nothingSeen);
});

describe("what operators decided", () => {
  it("is known at once, and that something was decided is noted", async () => {
    const { entry, open } = await prepareLedger();
    await entry.decide(revokeK);
    expect(entry.trust).toEqual({
      seen: { ...nothingSeen, hasDecisions: true },
      decisions: revokeK(),
    });
    expect(await open().renew()).toEqual(entry.trust);
  });

  it("counts though a process ended before it noted that something was decided", async () => {
    const { entry, records } = await prepareLedger();
    await records.create(decisionsKey, revokeK(), asItIs);
    expect((await entry.renew()).decisions).toEqual(revokeK());
  });

  it("builds on what was decided before", async () => {
    const { entry, open } = await prepareLedger();
    await entry.decide(revokeK);
    const given: unknown[] = [];
    await open().decide((decisions) => {
      given.push(decisions);
      return decisions;
    });
    expect(given).toEqual([revokeK()]);
  });

  it("stays when something is seen later", async () => {
    const { entry } = await prepareLedger();
    await entry.decide(revokeK);
    await entry.noteSeen(withLesson("K"));
    expect(entry.trust.decisions).toEqual(revokeK());
    expect(entry.trust.seen.hasDecisions).toBe(true);
  });
});

describe("a record that is gone is unknown, never absent:", () => {
  const recorded = async (body: object) => {
    const scene = await prepareLedger();
    await scene.records.create(releaseKey, body, asItIs);
    return scene;
  };

  it("decisions, once some were made", async () => {
    const { entry, open, lose } = await prepareLedger();
    await entry.decide(revokeK);
    lose(decisionsKey);
    await expect(open().renew()).rejects.toThrow(RecordUnreadable);
    await expect(open().decide(revokeK)).rejects.toThrow(RecordUnreadable);
    await expect(open().renew()).rejects.toThrow(
      "it is missing, and decisions were made",
    );
  });

  it("keys, once releases of the namespace are recorded", async () => {
    const { entry, open } = await recorded({ hasLedger: true });
    await expect(entry.renew()).rejects.toThrow(
      "it is missing, and releases of its namespace are recorded",
    );
    await expect(open().noteSeen(withLesson("K"))).rejects.toThrow(
      RecordUnreadable,
    );
    await expect(open().begin()).rejects.toThrow(RecordUnreadable);
  });

  it("keys that go while a process works with them", async () => {
    const { entry, lose, records } = await prepareLedger();
    await entry.noteSeen(withLesson("K"));
    lose(seenKey);
    await expect(entry.noteSeen(withLesson("L"))).rejects.toThrow(
      "it is missing",
    );
    expect(await records.read(seenKey, asItIs)).toBeUndefined();
  });

  it.each([{}, { hasLedger: false }, { hasLedger: "yes" }])(
    "but keys are absent where releases are recorded as %j, by an earlier version",
    async (body) => {
      const { entry } = await recorded(body);
      expect((await entry.renew()).seen).toEqual(nothingSeen);
    },
  );

  it("and a record of keys that was begun is there, be it of nothing", async () => {
    const { entry, open, records } = await prepareLedger();
    await entry.begin();
    await records.create(releaseKey, { hasLedger: true }, asItIs);
    expect((await open().renew()).seen).toEqual(nothingSeen);
    await entry.begin();
    expect(await records.read(seenKey, asItIs)).toEqual(nothingSeen);
  });

  it("and what was noted stays when a namespace is begun again", async () => {
    const { entry, open } = await prepareLedger();
    await entry.noteSeen(withLesson("K"));
    const other = open();
    await other.begin();
    expect(other.trust.seen.lessons).toEqual([lesson("K")]);
  });
});
