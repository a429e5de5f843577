import { readdirSync } from "node:fs";
import { setTimeout as delay } from "node:timers/promises";
import { parseArgs } from "node:util";
import { startDaemon } from "../bench/daemon.ts";
import { startOrigin } from "../bench/origin.ts";
import { memoryOf } from "../bench/process-use.ts";
import { Client } from "./clients.ts";
import { Ledger } from "./ledger.ts";
import { spoil } from "./origin-faults.ts";
import { Published } from "./published.ts";
import { formatReport } from "./report.ts";
import type { Sample } from "./trend.ts";

// npm run soak -- --minutes N: clients of all sorts and an origin that fails now and then, against one daemon.
// Exit status 1 when a bound of the table is broken. Linux only.

const clients = 12;
const reportEvery = 30_000;

const { values } = parseArgs({
  options: { minutes: { type: "string", default: "5" } },
});
const minutes = Number(values.minutes);
if (!(minutes > 0)) throw new RangeError("--minutes N: expected a number.");

const origin = await startOrigin();
const { registry } = origin;
const published = new Published(registry);
await published.start();
// The smallest heap that is promised to be enough, so that a leak is not taken for garbage that was left lying.
process.env.NODE_OPTIONS = "--max-old-space-size=128";
const daemon = await startDaemon({
  ...origin.config,
  freshness: { versions: "2s" },
});
delete process.env.NODE_OPTIONS;
const ledger = new Ledger();
const measured = { memory: [] as Sample[], descriptors: [] as Sample[] };
const began = performance.now();

function measure(): void {
  const at = performance.now() - began;
  measured.memory.push([at, memoryOf(daemon.pid, "now")]);
  const descriptors = readdirSync(`/proc/${daemon.pid}/fd`).length;
  measured.descriptors.push([at, descriptors]);
  // The origin's own book is not what is measured.
  registry.requests.clear();
}

function report(): boolean {
  const seconds = (performance.now() - began) / 1000;
  const { text, isMet } = formatReport(seconds, ledger, measured);
  console.log(text);
  return isMet;
}

const warm = new Client(daemon, published, ledger);
await warm.warmUp();
const end = AbortSignal.timeout(minutes * 60_000);
const measuring = setInterval(measure, 1_000);
const reporting = setInterval(report, reportEvery);
const spoiling = spoil(registry, end);
const running = Array.from({ length: clients }, () =>
  new Client(daemon, published, ledger).run(end),
);
await Promise.all([spoiling, ...running]);
clearInterval(reporting);
// Gives the daemon time to close what clients left behind.
await delay(Math.min(5_000, minutes * 10_000));
measure();
clearInterval(measuring);
const isMet = report();
await daemon.stop();
await origin.stop();
process.exitCode = isMet ? 0 : 1;
