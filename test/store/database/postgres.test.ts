import type { Sha256 } from "../../../src/address/hash.ts";
import { RecordStore } from "../../../src/store/records/record-store.ts";
import {
  afterAll,
  beforeAll,
  describe,
  expect,
  it,
  onTestFinished,
} from "vitest";
import { AuditLog } from "../../../src/store/database/audit-log.ts";
import { openDatabase } from "../../../src/store/database/database.ts";
import { failing } from "../../scenes/failing.ts";
import { startPostgres, type Postgres } from "../../scenes/postgres.ts";
import { testRecords } from "../records/contract.ts";
import { auditParts, makeLayout } from "../stores.ts";

const key = ["namespaces", "host", "acme"] as const;
const next = ["first_contacts", "a", "b", "c"] as const;
const asItIs = (body: unknown) => body as Record<string, number> | undefined;

let postgres: Postgres;

async function open(url: string) {
  const problems: (string | undefined)[] = [];
  const onProblem = (problem: string | undefined) => problems.push(problem);
  const database = openDatabase(await makeLayout(), { url, onProblem });
  onTestFinished(() => database.close());
  return { problems, database, records: new RecordStore(database) };
}

describe("records in a PostgreSQL", () => {
  beforeAll(async () => {
    postgres = await startPostgres();
  });
  afterAll(async () => {
    await postgres.close();
  });

  testRecords(async () => {
    const url = await postgres.createDatabase();
    return async () => (await open(url)).records;
  });

  it("are beside one audit log, of which nobody who follows it loses what one process commits after others", async () => {
    const url = await postgres.createDatabase();
    const logOf = async () => {
      const { database } = await open(url);
      const parts = auditParts(await makeLayout());
      return { database, log: new AuditLog({ ...parts, database }) };
    };
    const [slow, fast] = [await logOf(), await logOf()];
    const pages = fast.log.read({});
    const comes = async () => {
      const { value: page } = await pages.next();
      return page.map(({ event, detail, times }) =>
        [event, detail, times].filter((one) => one !== undefined).join(" "),
      );
    };
    expect(await comes()).toEqual([]);
    const served = { event: "served", verdict: "accepted" } as const;
    const refused = { event: "refused", verdict: "refused" } as const;
    await slow.database.transactions.run(async () => {
      await slow.log.record({ ...refused, detail: "slow" }, { durable: true });
      for (const { log } of [fast, fast]) {
        await log.record(served, { durable: false });
        await log.flush();
      }
      expect(await comes()).toEqual(["served 2"]);
    });
    expect(await comes()).toEqual(["refused slow"]);
    expect(await comes()).toEqual([]);
  });

  it("take the packages of a release with them", async () => {
    const { records } = await open(await postgres.createDatabase());
    const release = ["releases", "host", "acme", "widget", "1.0.0"] as const;
    const list = () =>
      records.ask((database) =>
        database.selectFrom("packages").selectAll().execute(),
      );
    const provider = { hostname: "host", namespace: "acme", type: "widget" };
    const first = { first_seen: "2026-01-01", signed_by: null };
    const row = { ...provider, version: "1.0.0", platform: "linux_amd64" };
    await records.swap(release, 0, {});
    await records.ask((database) =>
      database
        .insertInto("packages")
        .values({ ...row, ...first, sha256: "a".repeat(64) as Sha256 })
        .execute(),
    );
    expect(await list()).toHaveLength(1);
    await records.swap(["releases", "host", "acme", "other", "1.0.0"], 0, {});
    await records.remove(["releases", "host", "acme", "other", "1.0.0"]);
    expect(await list()).toHaveLength(1);
    await records.remove(release);
    expect(await list()).toEqual([]);
  });

  it("tell others by name what changed, and not who changed it", async () => {
    const url = await postgres.createDatabase();
    const [one, other] = [await open(url), await open(url)];
    const hear = async ({ database }: typeof one) => {
      const heard: string[] = [];
      const listen = async () => {
        heard.push(...((await database.findChanges()) ?? ["any"]));
        return heard;
      };
      await expect.poll(listen).not.toEqual([]);
      return heard;
    };
    // Until each listens, anything may have changed.
    for (const { database } of [one, other])
      await expect
        .poll(async () => (await database.findChanges())?.size)
        .toBe(0);
    await one.records.change(next, asItIs, () => ({ n: 1 }));
    expect(await hear(other)).toEqual([next.join("/")]);
    await other.records.change(key, asItIs, () => ({ n: 2 }));
    expect(await hear(one)).toEqual([key.join("/")]);
  });

  it("are unknown while it is stopped, and anything may have changed after that", async () => {
    const { records, problems, database } = await open(
      await postgres.createDatabase(),
    );
    await records.swap(key, 0, { n: 1 });
    await expect.poll(async () => (await database.findChanges())?.size).toBe(0);
    await postgres.stop();
    const unreachable = failing("database-unreachable");
    await expect(records.read(key, asItIs)).rejects.toThrow(unreachable);
    await expect(records.swap(key, 0, {})).rejects.toThrow(unreachable);
    await expect.poll(() => problems.length).toBe(1);
    expect(database.problem).toMatch(/^The database 127\.0\.0\.1:\d+\/\w+ /);
    expect(database.problem).not.toContain("secret");
    expect(await database.findChanges()).toEqual(new Set());
    await postgres.start();
    await expect.poll(() => database.problem).toBe(undefined);
    expect(await database.findChanges()).toBe(undefined);
    expect(await records.read(key, asItIs)).toEqual({ n: 1 });
    expect(problems.at(-1)).toBe(undefined);
  });
});
