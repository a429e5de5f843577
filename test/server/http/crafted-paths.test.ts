import { spawnSync } from "node:child_process";
import { realpathSync } from "node:fs";
import { connect } from "node:net";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { expect, it } from "vitest";
import { effort } from "../../effort.ts";
import { program, scratch } from "../../running-mirror.ts";
import { craftedPaths, randomPaths } from "./crafted-paths.ts";
import { awaitHit } from "../../scenes/log-lines.ts";
import { readToEnd } from "../../scenes/raw-connection.ts";
import { startWorld } from "../../scenes/world.ts";

const atOnce = 16;
const archive =
  "/providers/registry.terraform.io/acme/demo/terraform-provider-demo_1.2.3_linux_amd64.zip";
const directory = scratch("guarded-store");

/** Node itself denies every file but the program, its configuration and the store. */
const guard = [
  "--permission",
  "--allow-worker",
  "--allow-addons",
  ...[dirname(program), realpathSync(dirname(program))].map(
    (path) => `--allow-fs-read=${path}`,
  ),
  `--allow-fs-read=${directory}`,
  ...["config", "ca"].map(
    (name) => `--allow-fs-read=${join(tmpdir(), `provender-${name}-*`)}`,
  ),
  `--allow-fs-write=${directory}`,
  "--disable-warning=SecurityWarning",
];

const { registry, mirror } = await startWorld(
  {
    listen: { port: 0, tls: "off" },
    freshness: { versions: "1h" },
  },
  { directory, nodeOptions: guard },
);
await registry.publish({ type: "demo", version: "1.2.3" });
await awaitHit(mirror, archive);
registry.requests.clear();

/** The status of the path as it is, sent on a connection of its own. */
async function statusOf(path: string): Promise<number> {
  const { hostname: host, port } = new URL(mirror.url);
  const socket = connect({ host, port: Number(port) });
  socket.write(
    `GET ${path} HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n`,
    "latin1",
  );
  return Number((await readToEnd(socket)).split(" ")[1]);
}

/** How many answers had each status. */
async function askAll(
  paths: Iterable<string>,
): Promise<ReadonlyMap<number, number>> {
  const counts = new Map<number, number>();
  const rest = paths[Symbol.iterator]();
  const ask = async () => {
    for (let next = rest.next(); !next.done; next = rest.next()) {
      const status = await statusOf(next.value);
      counts.set(status, (counts.get(status) ?? 0) + 1);
    }
  };
  await Promise.all(Array.from({ length: atOnce }, ask));
  return counts;
}

function formatCounts(counts: ReadonlyMap<number, number>): string {
  const sorted = [...counts].toSorted(([a], [b]) => a - b);
  return sorted.map(([status, count]) => `${status} × ${count}`).join(", ");
}

/** Finds denied accesses and unexpected errors in the log. */
function findFailures(): readonly unknown[] {
  return mirror.log.filter(
    (line) =>
      line.err !== undefined ||
      Number(line.status) >= 500 ||
      JSON.stringify(line).includes("ERR_ACCESS_DENIED"),
  );
}

/** Without service discovery: names of modules are freer, and the origin is asked whether it has any. */
function askedOfOrigin(): readonly string[] {
  return registry.requests
    .list()
    .map(({ path }) => path)
    .filter((path) => path !== "/.well-known/terraform.json");
}

it("the guard of this test denies what lies outside", () => {
  const outside = JSON.stringify(import.meta.filename);
  const script = `require("fs").readFileSync(${outside})`;
  const { stderr } = spawnSync(process.execPath, [...guard, "-e", script]);
  expect(stderr.toString()).toContain("ERR_ACCESS_DENIED");
});

it("crafted paths open no file outside the store, reach no origin and are no failure of the mirror", async () => {
  const paths = craftedPaths();
  const counts = await askAll(paths);
  console.info(`${paths.length} crafted paths: ${formatCounts(counts)}`);
  expect(paths.length).toBeGreaterThanOrEqual(1_000);
  expect([...counts.keys()].filter((s) => !(s >= 200 && s < 500))).toEqual([]);
  expect(findFailures()).toEqual([]);
  expect(askedOfOrigin()).toEqual([]);
});

it(
  "random paths neither, and only well-formed names reach the origin",
  { timeout: 600_000 },
  async () => {
    const count = 300 * effort;
    const counts = await askAll(randomPaths(1, count));
    const asked = askedOfOrigin();
    console.info(
      `${count} random paths: ${formatCounts(counts)}; ${asked.length} requests to the origin`,
    );
    expect([...counts.keys()].filter((s) => !(s >= 200 && s < 500))).toEqual(
      [],
    );
    expect(findFailures()).toEqual([]);
    const namespace = "[a-z0-9](?:[a-z0-9_-]{0,62}[a-z0-9])?";
    const type = namespace.replace("_", "");
    const wellFormed = new RegExp(
      `^/v1/providers/${namespace}/${type}/(?:versions|[0-9][0-9A-Za-z.+-]*/download/[a-z0-9]+/[a-z0-9]+)$`,
    );
    expect(asked.filter((path) => !wellFormed.test(path))).toEqual([]);
  },
);
