import { spawn, type ChildProcess } from "node:child_process";
import { once } from "node:events";
import { readdirSync } from "node:fs";
import { join } from "node:path";
import { text } from "node:stream/consumers";
import { pathToFileURL } from "node:url";
import { describe, expect, it, onTestFinished } from "vitest";
import { recordPaths, type StoreLayout } from "../../../src/store/layout.ts";
import { DiskRecords } from "../../../src/store/records/disk-records.ts";
import { effort } from "../../effort.ts";
import { makeLayout } from "../stores.ts";
import { asItIs } from "./record-compliance.ts";
import { endingWithTests } from "../../child-process.ts";

const source = join(import.meta.dirname, "..", "..", "..", "src", "store");
const hrefOf = (name: string) => pathToFileURL(join(source, name)).href;

const processes = 8;
/** With PROVENDER_EFFORT=10 as many as are asked for. */
const notes = 20 * effort;
const kills = 10 * effort;

/** A process of its own with `records` of the store; what it prints is what it says. */
function startWorker({ directory }: StoreLayout, work: string): ChildProcess {
  const code = `
    const { layOutStore } = await import("${hrefOf("layout.ts")}");
    const { DiskRecords } = await import("${hrefOf("records/disk-records.ts")}");
    const records = new DiskRecords(layOutStore(${JSON.stringify(directory)}));
    const asItIs = (body) => body;
    ${work}`;
  const child = spawn(
    ...endingWithTests(process.execPath, ["--input-type=module", "-e", code]),
    {
      stdio: ["ignore", "pipe", "inherit"],
    },
  );
  onTestFinished(() => void child.kill("SIGKILL"));
  return child;
}

async function workTogether(
  layout: StoreLayout,
  workOf: (index: number) => string,
): Promise<readonly unknown[]> {
  return Promise.all(
    Array.from({ length: processes }, async (_, index) => {
      const { stdout } = startWorker(layout, workOf(index));
      return JSON.parse(stdout === null ? "" : await text(stdout)) as unknown;
    }),
  );
}

const shared = ["trust", "seen", "a.example", "acme"];

interface Notes {
  readonly notes: readonly string[];
}

describe(`${processes} processes on one store`, () => {
  it(
    `keep all of ${notes} notes each in one record, and have one first of each of as many`,
    { timeout: 60_000 * effort },
    async () => {
      const layout = await makeLayout();
      const started = performance.now();
      const firsts = await workTogether(
        layout,
        (index) => `
        const firsts = [];
        for (let n = 0; n < ${notes}; n++) {
          await records.change(${JSON.stringify(shared)}, asItIs, (before) => ({
            notes: [...(before?.notes ?? []), "${index} " + n],
          }));
          const key = ["providers", "round" + n];
          firsts.push((await records.create(key, { by: ${index} }, asItIs)).by);
        }
        console.log(JSON.stringify(firsts));`,
      );
      const records = new DiskRecords(layout);
      const kept = (await records.read(shared, asItIs)) as Notes;
      expect(new Set(kept.notes).size).toBe(processes * notes);
      expect(kept.notes).toHaveLength(processes * notes);
      expect(new Set(firsts.map((one) => JSON.stringify(one))).size).toBe(1);
      const [all = []] = firsts as readonly (readonly number[])[];
      for (const [n, by] of all.entries())
        expect(await records.read(["providers", `round${n}`], asItIs)).toEqual({
          by,
        });
      expect(readdirSync(layout.staging)).toEqual([]);
      const seconds = (performance.now() - started) / 1000;
      console.log(
        `${processes} processes x ${notes} notes and first records: ${processes * notes} kept, 0 lost, 0 two firsts, in ${seconds.toFixed(1)} s`,
      );
    },
  );
});

describe("a process that is killed in the middle of a change", () => {
  it(
    `leaves no lock, no torn record and no loss of what it had said, ${kills} times`,
    { timeout: 60_000 * effort },
    async () => {
      const layout = await makeLayout();
      const records = new DiskRecords(layout);
      for (let turn = 0; turn < kills; turn++) {
        const worker = startWorker(
          layout,
          `
          for (let n = 0; ; n++) {
            await records.change(${JSON.stringify(shared)}, asItIs, (before) => ({
              notes: [...(before?.notes ?? []).slice(-50), "${turn} " + n],
            }));
            console.log(n);
          }`,
        );
        let said = -1;
        worker.stdout?.setEncoding("utf8").on("data", (lines: string) => {
          said = Number(lines.trim().split("\n").at(-1));
        });
        while (said < turn % 7) await once(worker.stdout ?? worker, "data");
        const dead = once(worker, "exit");
        worker.kill("SIGKILL");
        await dead;
        await records.change(shared, asItIs, (before) => before);
        const { notes: kept } = (await records.read(shared, asItIs)) as Notes;
        expect(Number(kept.at(-1)?.split(" ")[1])).toBeGreaterThanOrEqual(said);
      }
      for (const path of recordPaths(layout, shared))
        expect(readdirSync(join(path, "..")).length).toBe(1);
    },
  );
});

it(
  "a process that stands still in a change holds up none of many others for longer than a client waits",
  { timeout: 60_000 },
  async () => {
    const layout = await makeLayout();
    const worker = startWorker(
      layout,
      `await records.change(${JSON.stringify(shared)}, asItIs, (before) => {
        process.getBuiltinModule("node:fs").writeSync(1, "in the change");
        Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0);
      });`,
    );
    await once(worker.stdout ?? worker, "data");
    const records = new DiskRecords(layout);
    const note = () =>
      records.change(shared, asItIs, () => ({ notes: ["written"] }));
    const started = performance.now();
    const refused = await Promise.allSettled(Array.from({ length: 8 }, note));
    expect(performance.now() - started).toBeLessThan(20_000);
    for (const one of refused)
      expect(one).toMatchObject({ reason: { code: "too-busy" } });
    const dead = once(worker, "exit");
    worker.kill("SIGKILL");
    await dead;
    await note();
    expect(await records.read(shared, asItIs)).toEqual({ notes: ["written"] });
  },
);
