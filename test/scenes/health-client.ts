import { spawn } from "node:child_process";
import { once } from "node:events";
import { join } from "node:path";
import { text } from "node:stream/consumers";
import type { RunningMirror } from "../running-mirror.ts";
import { endingWithTests } from "../child-process.ts";

const program = join(import.meta.dirname, "health-client-process.ts");

/** Asks for /healthz from a process of its own, over and over, while `work` goes on; the times are milliseconds. */
export async function measureHealth<T>(
  { url, caFile }: Pick<RunningMirror, "url" | "caFile">,
  work: () => Promise<T>,
) {
  const client = spawn(...endingWithTests(process.execPath, [program, url]), {
    env: { ...process.env, NODE_EXTRA_CA_CERTS: caFile },
    stdio: ["pipe", "pipe", "inherit"],
  });
  await once(client.stdout, "readable");
  const printed = text(client.stdout);
  const result = await work().finally(() => client.stdin.end());
  const taken = JSON.parse((await printed).slice("ready\n".length)) as number[];
  const sorted = taken.toSorted((a, b) => a - b);
  const at = (part: number) => sorted[Math.ceil(part * sorted.length) - 1] ?? 0;
  const times = {
    count: taken.length,
    p50: at(0.5),
    p99: at(0.99),
    most: at(1),
  };
  return { result, times };
}
