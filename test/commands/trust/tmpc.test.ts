import { it } from "vitest";
import pLimit from "p-limit";
import { TrustStore } from "../../../src/mirror/trust/trust-store.ts";
import { DiskRecords } from "../../../src/store/records/disk-records.ts";
import { makeLayout } from "../../store/stores.ts";
import { getHeapStatistics } from "node:v8";

const hostname = "registry.terraform.io" as never;
it("x", async () => {
  const layout = await makeLayout();
  const records = new DiskRecords(layout);
  const trust = new TrustStore(records);
  const names = Array.from({ length: 1000 }, (_, i) => `n${i}`);
  await pLimit(16).map(names, async (namespace) => {
    const entry = await trust.open({ hostname, namespace });
    const firstKey = { fingerprint: "K".repeat(40), type: "a" };
    await entry.change((before) => ({ ...before, firstKey }));
  });
  console.log(process.listenerCount("SIGTERM"), process.memoryUsage(), getHeapStatistics().used_heap_size);
}, 300_000);
