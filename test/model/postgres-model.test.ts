import { afterAll, expect, it } from "vitest";
import { sql } from "kysely";
import { openPostgres } from "../../src/store/database/postgres.ts";
import { recordTables } from "../../src/store/database/schema.ts";
import { startPostgres } from "../scenes/postgres.ts";
import { findSequence, play } from "./play/play.ts";

const server = await startPostgres();
const url = await server.createDatabase();
const problems: string[] = [];
const onProblem = (problem = "") => problems.push(problem);
const database = openPostgres({ url, onProblem }, () => false);

afterAll(async () => {
  await database.close();
  await server.close();
});

it(
  "the trust core keeps every invariant over PostgreSQL, in 200 sequences of a fixed seed",
  { timeout: 15 * 60_000 },
  async () => {
    const tables = ["packages", ...Object.keys(recordTables)].join();
    for (let seed = 1; seed <= 200; seed++) {
      const { queries } = database.transactions;
      await sql.raw(`TRUNCATE ${tables}`).execute(queries);
      const { name, world, actions } = findSequence(`${seed}`, undefined, 40);
      const found = await play(world, actions, undefined, database);
      expect(found && `${name} ${found.violation.message}`).toBeUndefined();
    }
    expect(problems).toEqual([]);
  },
);
