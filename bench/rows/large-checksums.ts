import { measureHealth } from "../../test/scenes/health-client.ts";
import { startDaemon } from "../daemon.ts";
import { fetchDocument } from "../download.ts";
import { figure, median } from "../figure.ts";
import { mirrorPath, startOrigin } from "../origin.ts";
import type { Row } from "../row.ts";
import { keepCa } from "../scratch.ts";

const releases = 40;

export const largeChecksums: Row = {
  name: "large-checksums",
  what: `cold VERSION.json, ${releases} releases at once with the largest SHA256SUMS`,
  against: "every one answered, and /healthz meanwhile",
  needs: [],
  run: async ({ rounds }, scene) => {
    const origin = scene.add(await startOrigin());
    const daemon = scene.add(await startDaemon(origin.config));
    const caFile = keepCa(daemon.ca);
    const answered: number[] = [];
    const waited: number[] = [];
    for (let round = 0; round < rounds; round++) {
      const type = `demo${round}`;
      const urls: string[] = [];
      for (let n = 0; n < releases; n++) {
        const version = `1.0.${n}`;
        const prefix = `terraform-provider-${type}_${version}_x`;
        await origin.registry.publish({
          ...{ type, version, size: 1_000 },
          editChecksums: (text) => fillChecksums(text, prefix),
        });
        urls.push(`${daemon.url}${mirrorPath(type)}${version}.json`);
      }
      const { result, times } = await measureHealth(
        { url: daemon.url, caFile },
        () =>
          Promise.allSettled(urls.map((url) => fetchDocument(url, daemon.ca))),
      );
      const good = result.filter(({ status }) => status === "fulfilled");
      answered.push(good.length);
      waited.push(times.p99);
    }
    return [
      figure("answered", Math.min(...answered), "requests", "=", releases),
      figure("/healthz p99", median(waited), "ms", "≤", 100),
    ];
  },
};

/** Bytes that SHA256SUMS may have. */
const largest = 256 * 1024;
const mostLines = 2_000;

/** Lengthens the text of SHA256SUMS to the largest that is read, by names that begin with `prefix`. */
function fillChecksums(text: string, prefix: string): string {
  const lines = mostLines - (text.match(/\n/g)?.length ?? 0);
  const length = Math.floor((largest - text.length) / lines);
  const filled = Array.from({ length: lines }, (_, n) => {
    const begin = `${n.toString(16).padStart(64, "0")}  ${prefix}`;
    return `${begin}${String(n).padEnd(length - 1 - begin.length, "x")}\n`;
  });
  return `${text}${filled.join("")}`;
}
