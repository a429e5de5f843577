import { expect, it } from "vitest";
import { parseJsonText } from "../../../src/origin/http/json-text.ts";
import {
  parseMirrorIndex,
  parseMirrorVersion,
} from "../../../src/origin/registries/mirror-answers.ts";

const url = new URL("https://mirror.example.com/a/b/c/1.0.0.json");

/** The shortest of three times, in milliseconds of the processor, which others on the machine do not lengthen. */
function timeOf(text: Uint8Array, parse: (value: unknown) => unknown): number {
  const times = Array.from({ length: 3 }, () => {
    const start = process.threadCpuUsage();
    expect(() => parse(parseJsonText(url, text))).toThrow(
      /more than \d+ (?:keys|platforms|versions|hashes)/,
    );
    const { user, system } = process.threadCpuUsage(start);
    return (user + system) / 1_000;
  });
  return Math.min(...times);
}

function objectOf(count: number, value: unknown): Record<string, unknown> {
  return Object.fromEntries(
    Array.from({ length: count }, (_, n) => [`os${n}_arch`, value]),
  );
}

const archive = { url: "a", hashes: ["h1:x"] };

it.each([
  ["a flat object of 1.4 million keys", objectOf(1_400_000, 1)],
  ["versions of a million keys", { versions: objectOf(1_000_000, {}) }],
  ["200 000 archives", { archives: objectOf(200_000, archive) }],
  ["90 000 archives", { archives: objectOf(90_000, archive) }],
  [
    "an archive of 300 000 hashes",
    {
      archives: objectOf(1, { url: "a", hashes: Array(300_000).fill("h1:x") }),
    },
  ],
])("refuses %s within 150 ms", (_, document) => {
  const text = Buffer.from(JSON.stringify(document));
  const isIndex = "versions" in document;
  const ms = timeOf(text, (value) =>
    isIndex
      ? parseMirrorIndex(url, value, 50_000)
      : parseMirrorVersion(url, value),
  );
  console.info(
    `${(text.length / 2 ** 20).toFixed(1)} MiB: ${ms.toFixed(0)} ms`,
  );
  expect(ms).toBeLessThan(150);
});
