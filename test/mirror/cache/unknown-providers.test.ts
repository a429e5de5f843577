import { readdirSync, readFileSync } from "node:fs";
import { Agent } from "node:https";
import { afterAll, expect, it } from "vitest";
import { effort } from "../../effort.ts";
import { fetchFrom } from "../../running-mirror.ts";
import { readMetric } from "../../scenes/provider-requests.ts";
import { startWorld } from "../../scenes/world.ts";

const { registry, mirror } = await startWorld(
  {},
  // The smallest heap that is promised to be enough: garbage left lying in a larger one is no room taken.
  { nodeOptions: ["--max-old-space-size=128"] },
);
const options = { ca: readFileSync(mirror.caFile), keepAlive: true };
const agents = Array.from({ length: 16 }, () => new Agent(options));
afterAll(() => {
  for (const agent of agents) agent.destroy();
});

let names = 0;

/** Asks for so many documents, each of a provider that no origin has. */
async function askUnknown(count: number): Promise<void> {
  const end = names + count;
  const ask = async (agent: Agent) => {
    while (names < end) {
      const type = `unknown-${names++}`;
      const documents = [
        ...["index.json", "1.0.0.json"],
        `terraform-provider-${type}_1.0.0_linux_amd64.zip`,
      ];
      const document = documents[names % documents.length];
      const path = `/providers/registry.terraform.io/acme/${type}/${document}`;
      const answer = await fetchFrom(new URL(path, mirror.url), agent, {});
      expect(answer.status).toBe(404);
      // Else the memory of this process is what grows.
      if (names % 1_000 === 0) registry.requests.clear();
    }
  };
  await Promise.all(agents.map(ask));
}

/** MiB that are alive in the mirror's heap: the least that it has while it works, which is what garbage collection leaves. */
async function aliveWhile(work: Promise<void>): Promise<number> {
  let isOver = false as boolean;
  const over = work.finally(() => {
    isOver = true;
  });
  let least = Infinity;
  while (!isOver) {
    const used = await readMetric(mirror, "nodejs_heap_size_used_bytes");
    least = Math.min(least, used);
  }
  await over;
  return least / 1024 / 1024;
}

const listFiles = () =>
  readdirSync(mirror.directory, { recursive: true }).map(String).toSorted();

it(
  "unknown names take no room, in memory or on disk",
  { timeout: 600_000 },
  async () => {
    const before = await aliveWhile(askUnknown(4_000));
    const files = listFiles();
    const count = 2_000 * effort;
    await askUnknown(count);
    const grown = (await aliveWhile(askUnknown(4_000))) - before;
    console.info(`${count} unknown providers: ${grown.toFixed(1)} MiB more`);
    // Each absent name on a connection of its own would be a handshake for each.
    expect(registry.connections).toBeLessThan(100);
    expect(listFiles()).toEqual(files);
    // The cache of absent names takes an eighth of the heap at most.
    expect(grown).toBeLessThanOrEqual(24);
  },
);
