import { appendFileSync, statSync } from "node:fs";
import { beforeEach, describe, expect, it } from "vitest";
import {
  AuditLog,
  readDecisions,
} from "../../../src/store/database/audit-log.ts";
import type { StoreLayout } from "../../../src/store/layout.ts";
import type {
  AuditEntry,
  WrittenEntry,
} from "../../../src/telemetry/audit-entry.ts";
import { failing } from "../../scenes/failing.ts";
import { askDatabase, auditParts, makeLayout, readAuditOf } from "../stores.ts";

const durable = { durable: true };
const batched = { durable: false };
const provider = "registry.terraform.io/acme/demo";

let layout: StoreLayout;
let log: AuditLog;
let lost: number[];

beforeEach(async () => {
  layout = await makeLayout();
  lost = [];
  const onLost = (entries: number) => lost.push(entries);
  log = new AuditLog({ ...auditParts(layout), onLost });
});

const times = (count: number, make: (n: number) => AuditEntry) =>
  Array.from({ length: count }, (_, n) => make(n));

async function record(entries: readonly AuditEntry[], how = durable) {
  await Promise.all(entries.map((one) => log.record(one, how)));
  await log.flush();
  return readAuditOf(layout);
}

it("has ten lines for what an origin offers of one release again and again, 60 for one provider or module, and 600 in all", async () => {
  const refused = { event: "replaced", verdict: "refused" } as const;
  const same = { ...refused, provider, version: "1.0.0" };
  const one = times(500, (n) => ({ ...same, detail: `content ${n}` }));
  expect(await record(one)).toMatchObject(one.slice(0, 10));
  const module = "registry.terraform.io/acme/noisy/aws";
  const noisy = times(300, (n) => ({
    ...{ ...refused, module, version: `1.0.${n}` },
  }));
  const quiet = { ...refused, provider: "registry.terraform.io/acme/quiet" };
  const lines = await record([...noisy, quiet]);
  expect(lines).toHaveLength(10 + 60 + 1);
  expect(lines).toContainEqual(expect.objectContaining(quiet));
  const many = times(5_000, (n) => ({ ...refused, provider: `a/b/c${n}` }));
  expect(await record(many)).toHaveLength(600);
});

it.each([
  ["quarantined", "refused", 10],
  ["judged-again", "refused", 10],
  ["left-out", "refused", 10],
  ["judged-again", "accepted", 700],
  ["first-seen", "accepted", 700],
  ["revoked", "refused", 700],
] as const)(
  "bounds what origins offer, not what is decided: of 700 times %s, %s, there are %i",
  async (event, verdict, count) => {
    const entry = { event, verdict, provider };
    expect(await record(times(700, () => entry))).toHaveLength(count);
  },
);

describe("what nothing waits for", () => {
  const refused = { event: "refused", verdict: "refused" } as const;
  const served = { event: "served", verdict: "accepted", provider } as const;

  it("is counted in one line where a client got the same archive that day, across batches", async () => {
    const gets = (sha256: string, client: string) => ({
      ...{ ...served, sha256, client, version: "1.0.0" },
    });
    for (let round = 0; round < 2; round++)
      await record(
        [
          ...times(3, () => gets("a", "192.0.2.1")),
          ...[gets("b", "192.0.2.1"), gets("a", "192.0.2.2")],
        ],
        batched,
      );
    const found = new Map<string, number>();
    for (const { client, sha256, times } of readAuditOf(layout)) {
      const key = `${client} ${sha256}`;
      found.set(key, (found.get(key) ?? 0) + Number(times));
    }
    expect([...found.values()].toSorted()).toEqual([2, 2, 6]);
    expect(readAuditOf(layout).length).toBeLessThan(7);
  });

  it("is bounded while it waits, and lost lines are told", async () => {
    const lines = await record(
      times(5_010, (n) => ({ ...refused, requestId: `${n}` })),
      batched,
    );
    expect(lines).toHaveLength(5_000);
    expect(lost).toEqual(Array.from({ length: 10 }, () => 1));
    expect(await record([refused], batched)).toHaveLength(5_001);
  });

  it("that cannot be written is told, and what is durable is refused", async () => {
    askDatabase(layout, "ALTER TABLE events RENAME TO away");
    await log.record(refused, batched);
    await log.record(refused, batched);
    await log.flush();
    expect(lost).toEqual([2]);
    const first = { event: "first-seen", verdict: "accepted" } as const;
    await expect(log.record(first, durable)).rejects.toThrow(
      failing("store-full"),
    );
    expect(lost).toEqual([2, 1]);
    askDatabase(layout, "ALTER TABLE away RENAME TO events");
    expect(await record([first])).toMatchObject([first]);
  });
});

it("keeps the newest lines of each event, so that no number of requests moves a decision out", async () => {
  const first = { event: "first-seen", verdict: "accepted" } as const;
  await record([{ ...first, provider }]);
  for (let n = 0; n < 12; n++) {
    await record([{ event: "refused", verdict: "refused", detail: `${n}` }]);
    await new Promise((resolve) => setTimeout(resolve, 2));
  }
  await log.trim(10);
  const kept = readAuditOf(layout);
  expect(kept.map(({ event }) => event)).toContain("first-seen");
  const refused = kept.filter(({ event }) => event === "refused");
  expect(refused.map(({ detail }) => detail)).toEqual(
    Array.from({ length: 10 }, (_, n) => `${n + 2}`),
  );
});

describe("who follows the log", () => {
  const served = { event: "served", verdict: "accepted", provider } as const;
  const later = { event: "refused", verdict: "refused" } as const;

  /** What comes until there is nothing new. */
  async function collect(pages: ReturnType<AuditLog["read"]>) {
    const all: WrittenEntry[] = [];
    for (;;) {
      const { value: page } = await pages.next();
      if (page.length === 0) return all;
      expect(page.length).toBeLessThanOrEqual(500);
      all.push(...page);
    }
  }

  it("gets each entry once, in pages, and again when a delivery is counted in it", async () => {
    const entries = times(1_201, (n) => ({ ...later, detail: `${n}` }));
    await record(entries, batched);
    const pages = log.read({});
    expect(await collect(pages)).toMatchObject(entries);
    expect(await collect(pages)).toEqual([]);
    await record([served], batched);
    expect(await collect(pages)).toMatchObject([{ ...served, times: 1 }]);
    await record([later, served], batched);
    const counted = { ...served, times: 2 };
    expect(await collect(pages)).toMatchObject([later, counted]);
    expect(await collect(pages)).toEqual([]);
  });

  it("gets what a process wrote before others and committed after them", async () => {
    const write = (id: number) =>
      askDatabase(
        layout,
        `INSERT INTO events (id, at, event, verdict, rest, times)
         VALUES (${id}, '2026-01-01T00:00:00.000Z', 'refused', 'refused', '{"detail":"${id}"}', 1)`,
      );
    const pages = log.read({});
    for (const id of [1, 3]) write(id);
    expect(await collect(pages)).toHaveLength(2);
    for (const id of [2, 4]) write(id);
    const found = await collect(pages);
    expect(found.map(({ detail }) => detail)).toEqual(["2", "4"]);
  });
});

it("the file of decisions has what operators decided and nothing else, for its owner alone, also behind a line that was cut short", async () => {
  expect(await readDecisions(layout.decisions)).toEqual([]);
  const revoked = { event: "revoked", verdict: "refused", provider } as const;
  await record([
    revoked,
    { event: "first-seen", verdict: "accepted", provider },
    { event: "refused", verdict: "refused", provider },
  ]);
  expect(statSync(layout.decisions).mode & 0o777).toBe(0o600);
  appendFileSync(layout.decisions, '{"at":"2026-11-21T09:00:00.000Z","eve');
  const other = { ...revoked, detail: 'says {"at":"2020-01-01"}\n' };
  await record([other]);
  expect(await readDecisions(layout.decisions)).toMatchObject([revoked, other]);
});
