import { readdirSync, readFileSync } from "node:fs";
import { Agent } from "node:https";
import { afterAll, beforeAll, expect, it } from "vitest";
import { memoryOf } from "../../../bench/process-use.ts";
import { effort } from "../../effort.ts";
import { createAuthority } from "../../fakes/authority.ts";
import { startRegistry, type Registry } from "../../fakes/registry.ts";
import { originsOf } from "../../origins.ts";
import {
  fetchFrom,
  startMirror,
  type RunningMirror,
} from "../../running-mirror.ts";

const atOnce = 16;

let registry: Registry;
let mirror: RunningMirror;
let agents: readonly Agent[];

beforeAll(async () => {
  const authority = await createAuthority();
  registry = await startRegistry({ authority });
  mirror = await startMirror({
    config: {
      ...originsOf(authority, registry),
      limits: { metadataPerClient: 0 },
    },
    // The smallest heap that is promised to be enough: garbage left lying in a larger one is no room taken.
    nodeOptions: ["--max-old-space-size=128"],
  });
  const ca = readFileSync(mirror.caFile);
  const options = { ca, keepAlive: true };
  agents = Array.from({ length: atOnce }, () => new Agent(options));
});

afterAll(async () => {
  for (const agent of agents) agent.destroy();
  await mirror.stop();
  await registry.stop();
});

let names = 0;

/** What clients ask of a provider, each time of another name that nobody has. */
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

function listFiles(): readonly string[] {
  return readdirSync(mirror.directory, { recursive: true })
    .map(String)
    .toSorted();
}

it(
  "names that nobody has take no room, in memory or on disk",
  { timeout: 600_000 },
  async () => {
    await askUnknown(4_000);
    const files = listFiles();
    const memory = memoryOf(mirror.process.pid ?? 0, "now");
    const count = 2_000 * effort;
    const statuses = await askUnknown(count);
    const grown = memoryOf(mirror.process.pid ?? 0, "now") - memory;
    console.info(
      `${count} unknown providers: ${grown.toFixed(1)} MiB more memory, ${listFiles().length - files.length} new files, ${registry.connections} connections to the origin`,
    );
    // Each absent name on a connection of its own would be a handshake for each.
    expect(registry.connections).toBeLessThan(100);
    expect([...statuses]).toEqual([404]);
    expect(listFiles()).toEqual(files);
    expect(grown).toBeLessThanOrEqual(50);
  },
);
