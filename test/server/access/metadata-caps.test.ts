import { expect, it } from "vitest";
import { failing } from "../../scenes/failing.ts";
import {
  charge,
  isMetadata,
  MetadataCaps,
} from "../../../src/server/access/metadata-caps.ts";
import type { RequestNote } from "../../../src/server/http/request-context.ts";

const client = (counted: string) => ({ address: counted, counted });
const one = client("192.0.2.1");

function noteOf(outcome: RequestNote["outcome"], originTime = 0): RequestNote {
  return { outcome, originTime };
}

/** How many requests at once are not refused. */
function countAdmitted(caps: MetadataCaps, asker = one, now = 0): number {
  for (let count = 0; ; count++)
    try {
      charge(caps.admit(asker, now), noteOf("none"));
    } catch (error) {
      expect(error).toEqual(failing("too-many-requests"));
      return count;
    }
}

it("lets a client ask for a minute's documents at once, and then as time passes", () => {
  const caps = new MetadataCaps(60);
  expect(countAdmitted(caps)).toBe(60);
  expect(countAdmitted(caps, one, 999)).toBe(0);
  expect(countAdmitted(caps, one, 1_000)).toBe(1);
  expect(countAdmitted(caps, one, 11_000)).toBe(10);
  expect(countAdmitted(caps, one, 1e9)).toBe(60);
});

it("says when the next document may be asked for", () => {
  const caps = new MetadataCaps(20);
  countAdmitted(caps);
  expect(() => caps.admit(one, 1_500)).toThrow(
    expect.objectContaining({ retryAfterSeconds: 2 }) as Error,
  );
});

it("counts each client alone", () => {
  const caps = new MetadataCaps(5);
  expect(countAdmitted(caps)).toBe(5);
  expect(countAdmitted(caps, client("192.0.2.2"))).toBe(5);
});

it("does not charge for what was held", () => {
  const caps = new MetadataCaps(3);
  for (let count = 0; count < 100; count++)
    for (const held of [noteOf("hit"), noteOf("joined", 50), noteOf("stale")])
      charge(caps.admit(one, 0), held);
  for (const asked of [noteOf("fetched", 9), noteOf("stale", 9)])
    charge(caps.admit(one, 0), asked);
  expect(countAdmitted(caps)).toBe(1);
});

it.each([
  ["no cap", new MetadataCaps(0), one],
  ["an unknown client", new MetadataCaps(1), { ...one, counted: undefined }],
])("refuses nothing with %s", (_, caps, asker) => {
  for (let count = 0; count < 1_000; count++) caps.admit(asker, 0);
});

it("lets a client owe a minute at most for what it asked at once", () => {
  const caps = new MetadataCaps(60);
  const asked = Array.from({ length: 1_000 }, () => caps.admit(one, 0));
  for (const allowance of asked) charge(allowance, noteOf("fetched"));
  expect(countAdmitted(caps, one, 60_000)).toBe(0);
  expect(countAdmitted(caps, one, 62_000)).toBe(2);
});

it("remembers clients in bounded memory", () => {
  const caps = new MetadataCaps(2);
  global.gc?.();
  const before = process.memoryUsage().heapUsed;
  for (let count = 0; count < 300_000; count++)
    caps.admit(client(`client ${count}`), 0);
  global.gc?.();
  const grown = (process.memoryUsage().heapUsed - before) / 2 ** 20;
  expect(grown).toBeLessThan(32);
});

it.each([
  ["/providers/registry.terraform.io/acme/demo/index.json", true],
  ["/providers/registry.terraform.io/acme/demo/1.0.0.json", true],
  ["/v1/providers/registry.terraform.io/acme/demo/versions", true],
  [
    "/providers/registry.terraform.io/acme/demo/terraform-provider-demo_1.0.0_linux_amd64.zip",
    false,
  ],
  ["/healthz", false],
  ["/metrics", false],
  ["/", false],
])("%s is metadata: %s", (path, expected) => {
  expect(isMetadata(path)).toBe(expected);
});

it("costs less than a microsecond for each request", () => {
  const caps = new MetadataCaps(60_000);
  const note = noteOf("hit");
  const clients = Array.from({ length: 100 }, (_, n) => client(`10.0.0.${n}`));
  const rounds = 200_000;
  let best = Infinity;
  for (let attempt = 0; attempt < 5; attempt++) {
    const start = performance.now();
    for (let count = 0; count < rounds; count++)
      charge(caps.admit(clients[count % 100] ?? one), note);
    best = Math.min(best, (1e6 * (performance.now() - start)) / rounds);
  }
  console.info(`the cap on metadata: ${best.toFixed(0)} ns a request`);
  expect(best).toBeLessThan(1_000);
});
