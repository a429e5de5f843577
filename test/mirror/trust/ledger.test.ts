import { beforeEach, describe, expect, it } from "vitest";
import { providerAddress } from "../../../src/address/provider-address.ts";
import { RecordUnreadable } from "../../../src/errors/index.ts";
import type { LedgerEntry } from "../../../src/mirror/trust/ledger-entry.ts";
import { TrustLedger } from "../../../src/mirror/trust/ledger.ts";
import type { Seen } from "../../../src/mirror/trust/namespace-trust.ts";
import type { RecordKey, StoreLayout } from "../../../src/store/layout.ts";
import { DiskRecords } from "../../../src/store/records/disk-records.ts";
import type { ReadBody } from "../../../src/store/records/record-store.ts";
import { lesson } from "../../scenes/key-questions.ts";
import { makeLayout } from "../cache/archives.ts";
import { TestClock } from "../cache/metadata.ts";

const namespace = providerAddress("registry.terraform.io", "acme", "thing");
const place = ["registry.terraform.io", "acme"];
const seenKey: RecordKey = ["trust", "seen", ...place];
const decisionsKey: RecordKey = ["trust", "decisions", ...place];
const release: RecordKey = [
  "providers",
  ...place,
  "thing",
  "releases",
  "1.0.0",
];
const asItIs = (body: unknown) => body;

let layout: StoreLayout;
let records: DiskRecords;
let clock: TestClock;
/** Of two processes of one store. */
let ours: TrustLedger;
let theirs: TrustLedger;

beforeEach(async () => {
  layout = await makeLayout();
  records = new DiskRecords(layout);
  clock = new TestClock();
  const now = () => clock.monotonic();
  ours = new TrustLedger(records, now);
  theirs = new TrustLedger(records, now);
});

const learn =
  (fingerprint: string, type: string) =>
  (seen: Seen): Seen => ({
    ...seen,
    lessons: [...seen.lessons, lesson(fingerprint, type)],
  });

const lessons = ({ trust }: LedgerEntry) =>
  trust.seen.lessons.map(({ fingerprint }) => fingerprint);

const approve = (ledger: TrustLedger) =>
  ledger.decide(namespace, ({ keys, releases }) => ({
    keys: [
      ...keys,
      {
        fingerprint: "K",
        decision: "approved",
        type: null,
        at: "2026-01-01T00:00:00Z",
      },
    ],
    releases,
  }));

describe("an entry of the ledger", () => {
  it("is one for all who open it, and has at once what one of them notes", async () => {
    const [entry, same] = [
      await ours.open(namespace),
      await ours.open(namespace),
    ];
    expect(same).toBe(entry);
    const before = await entry.noteSeen(learn("K", "thing"));
    expect(before.lessons).toEqual([]);
    expect(lessons(same)).toEqual(["K"]);
  });

  it("loses no note of another process, and sees it half a second later", async () => {
    const entry = await ours.open(namespace);
    const other = await theirs.open(namespace);
    await entry.noteSeen(learn("K", "a"));
    const before = await other.noteSeen(learn("L", "b"));
    expect(before.lessons).toHaveLength(1);
    expect(lessons(other)).toEqual(["K", "L"]);
    clock.pass(499);
    await entry.renew();
    expect(lessons(entry)).toEqual(["K"]);
    clock.pass(1);
    await entry.renew();
    expect(lessons(entry)).toEqual(["K", "L"]);
  });

  it("is the same object while nothing changes, and another one once something did", async () => {
    const entry = await ours.open(namespace);
    await entry.noteSeen(learn("K", "a"));
    const before = entry.trust;
    clock.pass(1_000);
    expect(await entry.renew()).toBe(before);
    await entry.noteSeen((seen) => seen);
    expect(entry.trust).toBe(before);
    await entry.noteSeen(learn("L", "b"));
    expect(entry.trust).not.toBe(before);
  });

  it("has decisions of operators half a second later, and those of its own process at once", async () => {
    const entry = await ours.open(namespace);
    await approve(theirs);
    expect(entry.trust.decisions.keys).toHaveLength(0);
    clock.pass(500);
    await ours.open(namespace);
    expect(entry.trust.decisions.keys).toHaveLength(1);
    await approve(ours);
    expect(entry.trust.decisions.keys).toHaveLength(2);
    expect(entry.trust.seen.hasDecisions).toBe(true);
  });

  it("keeps what it noted when a look at the disk began before", async () => {
    const gates: PromiseWithResolvers<void>[] = [];
    const slow = new (class extends DiskRecords {
      override async read<T>(key: RecordKey, readBody: ReadBody<T>) {
        const found = await super.read(key, readBody);
        if (key[1] === "decisions") await gates[0]?.promise;
        return found;
      }
    })(layout);
    const entry = await new TrustLedger(slow, () => clock.monotonic()).open(
      namespace,
    );
    await entry.noteSeen(learn("K", "a"));
    clock.pass(1_000);
    gates.push(Promise.withResolvers());
    const renewal = entry.renew();
    await entry.noteSeen(learn("L", "b"));
    gates[0]?.resolve();
    await renewal;
    expect(lessons(entry)).toEqual(["K", "L"]);
  });

  it("weighs more the more it knows", async () => {
    const entry = await ours.open(namespace);
    const before = entry.weight;
    await entry.noteSeen(learn("K", "a"));
    expect(entry.weight).toBeGreaterThan(before);
  });
});

describe("a record of a namespace", () => {
  it("is made before there is one of its releases, once", async () => {
    await ours.begin(namespace);
    await ours.begin(namespace);
    expect(await records.read(seenKey, asItIs)).toMatchObject({ lessons: [] });
    expect(await theirs.list()).toEqual([
      { hostname: "registry.terraform.io", namespace: "acme" },
    ]);
  });

  it("of what was seen is lost when releases say that there was one: nothing is read and nothing begun", async () => {
    await records.create(release, { hasLedger: true }, asItIs);
    await expect(ours.open(namespace)).rejects.toThrow(RecordUnreadable);
    await expect(ours.begin(namespace)).rejects.toThrow(RecordUnreadable);
    await expect(approve(ours)).rejects.toThrow(RecordUnreadable);
    expect(await records.read(seenKey, asItIs)).toBeUndefined();
  });

  it("of what was seen is met anew where releases are of before there was one", async () => {
    await records.create(release, {}, asItIs);
    const entry = await ours.open(namespace);
    await entry.noteSeen(learn("K", "thing"));
    expect(lessons(entry)).toEqual(["K"]);
  });

  it("of what was seen is not made anew by a note when it was lost since it was read", async () => {
    const entry = await ours.open(namespace);
    await entry.noteSeen(learn("K", "thing"));
    await records.remove(seenKey);
    await expect(entry.noteSeen(learn("L", "b"))).rejects.toThrow(
      RecordUnreadable,
    );
    expect(await records.read(seenKey, asItIs)).toBeUndefined();
  });

  it("of decisions is lost when what was seen says that there were some", async () => {
    await approve(ours);
    await records.remove(decisionsKey);
    clock.pass(500);
    await expect(ours.open(namespace)).rejects.toThrow(RecordUnreadable);
    await expect(approve(ours)).rejects.toThrow(RecordUnreadable);
    expect(await records.read(decisionsKey, asItIs)).toBeUndefined();
  });
});
