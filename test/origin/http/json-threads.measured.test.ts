import { isDeepStrictEqual } from "node:util";
import { expect, it } from "vitest";
import {
  OriginAnswerUnusable,
  OriginTimedOut,
} from "../../../src/errors/index.ts";
import type { JsonReading } from "../../../src/origin/http/json-reading.ts";
import { JsonThreads } from "../../../src/origin/http/json-threads.ts";
import {
  readMirrorIndex,
  readMirrorVersion,
} from "../../../src/origin/registries/mirror-answers.ts";
import { readModuleVersions } from "../../../src/origin/registries/module-registry.ts";
import { readVersions } from "../../../src/origin/registries/registry-answers.ts";
import { never } from "../clients.ts";

const url = new URL("https://registry.example.com/document");
const threads = new JsonThreads();

function versions(count: number, entry: (n: number) => object) {
  return Array.from({ length: count }, (_, n) => ({
    version: `1.0.${n}`,
    ...entry(n),
  }));
}

const platforms = Array.from({ length: 15 }, (_, n) => ({
  os: `os${n}`,
  arch: "amd64",
}));
const protocolsOf = (n: number) =>
  Array.from({ length: 16 }, (_, i) => `${i}.${n}`);
const keys = (count: number) =>
  Object.fromEntries(Array.from({ length: count }, (_, n) => [`1.0.${n}`, {}]));

const most = 10_000;

const readings: readonly (readonly [string, JsonReading<unknown>, object])[] = [
  [
    "10 000 versions for 15 platforms",
    readVersions(most),
    { versions: versions(most, () => ({ platforms })) },
  ],
  [
    "versions with many lists of protocols",
    readVersions(most),
    { versions: versions(most, (n) => ({ protocols: protocolsOf(n % 64) })) },
  ],
  [
    "10 000 versions of a network mirror",
    readMirrorIndex(most),
    { versions: keys(most) },
  ],
  [
    "10 000 versions of a module",
    readModuleVersions(most),
    { modules: [{ versions: versions(most, () => ({})) }] },
  ],
];

it.each(readings)(
  "%s cost the event loop less than 100 ms",
  async (_, reading, document) => {
    const text = Buffer.from(JSON.stringify(document));
    const expected = reading.read(url, document);
    const times: number[] = [];
    for (let round = 0; round < 3; round++) {
      const start = process.threadCpuUsage();
      const read = await threads.read(
        url,
        new Uint8Array(text),
        reading,
        never,
      );
      const { user, system } = process.threadCpuUsage(start);
      times.push((user + system) / 1_000);
      expect(isDeepStrictEqual(read, expected)).toBe(true);
    }
    console.info(`${(text.length / 2 ** 20).toFixed(1)} MiB:`, times);
    expect(Math.min(...times)).toBeLessThan(100);
  },
);

it("a refusal is the same error as without a thread", async () => {
  const archives = Object.fromEntries(
    Array.from({ length: 20_000 }, (_, n) => [`os${n}_arch`, { url: "a" }]),
  );
  const bytes = new Uint8Array(Buffer.from(JSON.stringify({ archives })));
  const read = threads.read(url, bytes, readMirrorVersion(), never);
  await expect(read).rejects.toThrow(OriginAnswerUnusable);
  await expect(read).rejects.toThrow(
    "https://registry.example.com/document gave an unusable answer (it lists more than 256 platforms): try again, or look at the origin.",
  );
});

it("a thread is ended by the deadline", async () => {
  const document = { versions: versions(most, () => ({ platforms })) };
  const bytes = new Uint8Array(Buffer.from(JSON.stringify(document)));
  const late = threads.read(
    url,
    bytes,
    readVersions(most),
    AbortSignal.timeout(20),
  );
  await expect(late).rejects.toThrow(OriginTimedOut);
});
