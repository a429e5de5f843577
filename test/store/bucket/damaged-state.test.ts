import { rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, expect, it } from "vitest";
import type { BucketSettings } from "../../../src/store/bucket/bucket-settings.ts";
import {
  startLooseBucket,
  type LooseBucket,
} from "../../fakes/loose-bucket.ts";
import { runCommand } from "../../running-command.ts";
import {
  makePart,
  writeBucketConfiguration,
} from "../../scenes/bucket-configuration.ts";
import { makeLayout } from "../stores.ts";

let loose: LooseBucket;
let settings: BucketSettings;

beforeAll(async () => {
  loose = await startLooseBucket({ keepsConditions: true });
  settings = makePart(loose);
});
afterAll(() => loose.stop());

it.each(["bucket.v1.json", "replica.v1.json"])(
  "%s that says nothing is refused in a sentence with its remedy, which holds",
  async (name) => {
    const { directory } = await makeLayout();
    const config = writeBucketConfiguration(directory, settings);
    const run = (...args: readonly string[]) =>
      runCommand([...args, "--config", config]);
    expect((await run("list")).status).toBe(0);
    const file = join(directory, name);
    writeFileSync(file, '{"store":');
    const refused = await run("list");
    expect([refused.status, refused.stdout]).toEqual([1, ""]);
    expect(refused.stderr).toMatch(
      new RegExp(
        `^provender: The record ${name} .*\\(it is cut or changed\\).* remove it.*\\n$`,
      ),
    );
    rmSync(file);
    expect((await run("list")).status).toBe(0);
  },
);
