import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { layOutStore } from "../../../src/store/layout.ts";
import { DiskRecords } from "../../../src/store/records/disk-records.ts";
import { createAuthority } from "../../fakes/authority.ts";
import { startRegistry, type Registry } from "../../fakes/registry.ts";
import { originsOf } from "../../origins.ts";
import { startMirror, type RunningMirror } from "../../running-mirror.ts";
import { ask } from "../../scenes/open-loop.ts";
import { plantRecord } from "../../scenes/planted-records.ts";

const releases = 2_000;
const name = "registry.terraform.io/acme/demo";
const provider = name.split("/");

let registry: Registry;
let mirror: RunningMirror;

beforeAll(async () => {
  const authority = await createAuthority();
  registry = await startRegistry({ authority });
  await registry.publish({ type: "demo", version: "1.0.0" });
  mirror = await startMirror({
    config: {
      ...originsOf(authority, registry),
      listen: { port: 0, tls: "off" },
    },
  });
  await mirror.get(`/providers/${name}/1.0.0.json`);
  await plantReleases();
});

afterAll(async () => {
  await mirror.stop();
  await registry.stop();
});

/** Copies the mirror's own record to releases of this provider and of others. */
async function plantReleases(): Promise<void> {
  const records = new DiskRecords(layOutStore(mirror.directory));
  const folder = ["providers", ...provider, "releases"];
  const body = await records.read([...folder, "1.0.0"], (read) => read);
  const text = JSON.stringify(body);
  for (let n = 0; n < releases; n++) {
    const version = `2.0.${n}`;
    const own = JSON.parse(text.replaceAll("1.0.0", version)) as unknown;
    plantRecord(mirror.directory, [...folder, version], own);
    const other = ["providers", "registry.terraform.io", "acme", `p${n}`];
    plantRecord(mirror.directory, [...other, "releases", "1.0.0"], body);
  }
}

/** Milliseconds of as many pages of a list, none of which was asked for before, the fastest first. */
async function timeCold(
  path: string,
  pages: number,
): Promise<readonly number[]> {
  const times: number[] = [];
  for (let n = 0; n < pages; n++) {
    const page = new URL(path, mirror.url);
    page.searchParams.set("page", `${10 + n}`);
    const start = performance.now();
    const { status } = await mirror.get(`${page.pathname}${page.search}`);
    expect(status).toBe(200);
    times.push(performance.now() - start);
  }
  return times.toSorted((a, b) => a - b);
}

/** Every page, and different ones of those that are long. */
const pages = [
  ...["/", "/alarms", "/browse", "/browse?page=17"],
  ...["/browse?q=p19"],
  ...[1, 2, 3, 4].map((page) => `/browse?provider=${name}&page=${page}`),
];
const seconds = 4;

function at(sorted: readonly number[], part: number): number {
  return sorted[Math.ceil(part * sorted.length) - 1] ?? 0;
}

describe(`with ${releases} releases of one provider, and as many providers`, () => {
  it.each(["/browse", `/browse?provider=${name}`, "/browse?q=p1"])(
    "%s is there in 100 ms",
    async (path) => {
      const [fastest = 0, , , middle = 0] = await timeCold(path, 7);
      console.log(`${path}: ${fastest.toFixed(0)}..${middle.toFixed(0)} ms`);
      expect(middle).toBeLessThan(100);
    },
  );

  it("slows the index of clients by less than double, at 50 pages a second", async () => {
    const index = { paths: [`/providers/${name}/index.json`], rate: 200 };
    const askForIndex = async () =>
      at(await ask(mirror.url, { ...index, seconds }), 0.99);
    await askForIndex();
    const seen: string[] = [];
    let ratio = Infinity;
    // Other load on the machine slows both.
    for (let round = 0; round < 3 && ratio > 2; round++) {
      const alone = await askForIndex();
      const loads = ask(mirror.url, { paths: pages, rate: 50, seconds });
      const beside = await askForIndex();
      const taken = await loads;
      expect(taken).toHaveLength(50 * seconds);
      // A few milliseconds more or less say nothing.
      ratio = beside / Math.max(alone, 10);
      seen.push(
        `p99 of the index ${alone.toFixed(1)} ms, beside pages ${beside.toFixed(1)} ms; pages p50 ${at(taken, 0.5).toFixed(1)} ms, p99 ${at(taken, 0.99).toFixed(1)} ms`,
      );
    }
    console.log(seen.join("\n"));
    expect(ratio, seen.join("; ")).toBeLessThanOrEqual(2);
  }, 120_000);
});
