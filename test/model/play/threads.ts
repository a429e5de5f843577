import { once } from "node:events";
import { Worker } from "node:worker_threads";
import type { Batch, Broken } from "./batch.ts";

/** Result of all sequences. */
export interface Played {
  readonly count: number;
  readonly broken: number;
  /** How often each sort of violation came. */
  readonly sorts: ReadonlyMap<string, number>;
  /** One for each sort. */
  readonly reports: readonly string[];
}

/** Plays sequences in several threads. Rejects when one of them fails. */
export async function playInThreads(
  batch: Omit<Batch, "share">,
  threads: number,
): Promise<Played> {
  const sorts = new Map<string, number>();
  const reports = new Map<string, string>();
  let count = 0;
  const note = (broken: Broken | undefined) => {
    count++;
    if (broken === undefined) return;
    const { sort, report } = broken;
    sorts.set(sort, (sorts.get(sort) ?? 0) + 1);
    if (report !== undefined && !reports.has(sort)) reports.set(sort, report);
  };
  const shares = Array.from({ length: threads }, (_, index) =>
    playShare({ ...batch, share: { index, of: threads } }, note),
  );
  await Promise.all(shares);
  const broken = sorts.values().reduce((sum, times) => sum + times, 0);
  return { count, broken, sorts, reports: [...reports.values()] };
}

async function playShare(
  batch: Batch,
  note: (broken: Broken | undefined) => void,
): Promise<void> {
  const place = new URL("thread.ts", import.meta.url);
  const worker = new Worker(place, { workerData: batch });
  worker.on("message", note);
  await once(worker, "exit");
}
