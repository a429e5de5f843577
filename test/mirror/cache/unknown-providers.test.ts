import { readMetric } from "../../scenes/provider-requests.ts";
import { readdirSync, readFileSync } from "node:fs";
import { Agent } from "node:https";
import { afterAll, expect, it } from "vitest";
import { effort } from "../../effort.ts";
import { fetchFrom } from "../../running-mirror.ts";
import { startWorld } from "../../scenes/world.ts";

const atOnce = 16;

const { registry, mirror } = await startWorld(
  {},
  {
    // The smallest heap that is promised to be enough: garbage left lying in a larger one is no room taken.
    nodeOptions: ["--max-old-space-size=128"],
  },
);
const ca = readFileSync(mirror.caFile);
const options = { ca, keepAlive: true };
const agents = Array.from({ length: atOnce }, () => new Agent(options));

afterAll(() => {
  for (const agent of agents) agent.destroy();
});

let names = 0;

/** Returns a path of a provider, each time with a new name that no origin has. */
function nextPath(): string {
  const type = `unknown-${names++}`;
  const folder = `/providers/registry.terraform.io/acme/${type}/`;
  const documents = [
    "index.json",
    "1.0.0.json",
    `terraform-provider-${type}_1.0.0_linux_amd64.zip`,
  ];
  return `${folder}${documents[names % documents.length] ?? ""}`;
}

/** Asks for so many unknown names; the answers' statuses. */
async function askUnknown(count: number): Promise<ReadonlySet<number>> {
  const statuses = new Set<number>();
  const end = names + count;
  const ask = async (agent: Agent) => {
    while (names < end) {
      const { status } = await fetchFrom(
        new URL(nextPath(), mirror.url),
        agent,
        {},
      );
      statuses.add(status);
      // Else the memory of this process is what grows.
      if (names % 1_000 === 0) registry.requests.clear();
    }
  };
  await Promise.all(agents.map(ask));
  return statuses;
}

/** MiB that are alive in the mirror's heap: the least that it has while it works, which is what garbage collection leaves. */
async function aliveWhile(work: Promise<unknown>): Promise<number> {
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

function listFiles(): readonly string[] {
  return readdirSync(mirror.directory, { recursive: true })
    .map(String)
    .toSorted();
}

it(
  "unknown names take no room, in memory or on disk",
  { timeout: 600_000 },
  async () => {
    const before = await aliveWhile(askUnknown(4_000));
    const files = listFiles();
    const count = 2_000 * effort;
    await askUnknown(count);
    const asking = askUnknown(4_000);
    const grown = (await aliveWhile(asking)) - before;
    const statuses = await asking;
    console.info(
      `${count} unknown providers: ${grown.toFixed(1)} MiB more alive, ${listFiles().length - files.length} new files, ${registry.connections} connections to the origin`,
    );
    // Each absent name on a connection of its own would be a handshake for each.
    expect(registry.connections).toBeLessThan(100);
    expect([...statuses]).toEqual([404]);
    expect(listFiles()).toEqual(files);
    // The cache of absent names takes an eighth of the heap at most.
    expect(grown).toBeLessThanOrEqual(24);
  },
);
