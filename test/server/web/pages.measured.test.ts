import { spawn } from "node:child_process";
import { once } from "node:events";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { layOutStore } from "../../../src/store/layout.ts";
import { DiskRecords } from "../../../src/store/records/disk-records.ts";
import { endingWithTests } from "../../child-process.ts";
import { createAuthority } from "../../fakes/authority.ts";
import { startRegistry, type Registry } from "../../fakes/registry.ts";
import { originsOf } from "../../origins.ts";
import { startMirror, type RunningMirror } from "../../running-mirror.ts";
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

/** Of one provider and of as many others, made from what the mirror wrote itself. */
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

/** Milliseconds of as many requests one after the other, the fastest first. */
async function time(
  path: string,
  requests: number,
): Promise<readonly number[]> {
  const times: number[] = [];
  for (let n = 0; n < requests; n++) {
    const start = performance.now();
    expect((await mirror.get(path)).status).toBe(200);
    times.push(performance.now() - start);
  }
  return times.toSorted((a, b) => a - b);
}

/** A program that asks for a page 50 times a second and writes a dot for each. */
const loads = (url: string) => `
  setInterval(async () => {
    const answer = await fetch(${JSON.stringify(url)});
    await answer.text();
    process.stdout.write(".");
  }, 20);`;

describe(`with ${releases} releases of one provider, and as many providers`, () => {
  it.each(["/browse", `/browse?provider=${name}`, `/browse?q=p19`])(
    "%s is there in 100 ms",
    async (path) => {
      await time(path, 3);
      const [fastest = 0, , middle = 0] = await time(path, 7);
      console.log(`${path}: ${fastest.toFixed(0)}..${middle.toFixed(0)} ms`);
      expect(middle).toBeLessThan(100);
    },
  );

  it("slows the index of clients by less than double, at 50 pages a second", async () => {
    const index = `/providers/${name}/index.json`;
    const worst = async () => {
      const times = await time(index, 2_000);
      return times[Math.floor(times.length * 0.99)] ?? 0;
    };
    await worst();
    const alone = await worst();
    const load = spawn(
      ...endingWithTests(process.execPath, [
        "-e",
        loads(`${mirror.url}browse`),
      ]),
      { stdio: ["ignore", "pipe", "inherit"] },
    );
    let pages = 0;
    load.stdout.on("data", ({ length }: Buffer) => (pages += length));
    await once(load.stdout, "data");
    const beside = await worst();
    load.kill();
    const seen = `${alone.toFixed(1)} ms alone, ${beside.toFixed(1)} ms beside ${pages} pages`;
    console.log(`99th percentile of the index: ${seen}`);
    expect(beside, seen).toBeLessThan(Math.max(2 * alone, 20));
  });
});
