import { spawn, type ChildProcess } from "node:child_process";
import { once } from "node:events";
import { readdirSync } from "node:fs";
import { join } from "node:path";
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

const shared = ["trust", "seen", "a.example", "acme"];

interface Notes {
  readonly notes: readonly string[];
}

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
