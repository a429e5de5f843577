import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { startDaemon, startStaticServer } from "../daemon.ts";
import { fetchDocument } from "../download.ts";
import { figure, interleave, median, ratioOf, type Figure } from "../figure.ts";
import { publishManyVersions, mirrorPath, startOrigin } from "../origin.ts";
import { measureRate, type Rate } from "../request-rate.ts";
import type { Effort, Row, Scene } from "../row.ts";

export const warmIndex: Row = {
  name: "warm-index",
  what: "warm index.json of 200 versions, TLS, keep-alive",
  against: "nginx, the same file, 1 worker",
  needs: ["nginx"],
  run: measure,
};

async function measure(
  { rounds, seconds }: Effort,
  scene: Scene,
): Promise<readonly Figure[]> {
  const origin = scene.add(await startOrigin());
  await publishManyVersions(origin.registry);
  const daemon = scene.add(await startDaemon(origin.config));
  const nginx = scene.add(await startStaticServer());
  const url = `${daemon.url}${mirrorPath("demo")}index.json`;
  const body = await fetchDocument(url, daemon.ca);
  writeFileSync(join(nginx.root, "index.json"), body);
  const ours = { ...daemon, url };
  const theirs = { ...nginx, url: `${nginx.url}index.json` };
  await measureRate(ours, seconds);
  const rates = await interleave(
    2 * rounds,
    () => measureRate(ours, seconds),
    () => measureRate(theirs, seconds),
  );
  scene.remark(describeBusy("provender", rates.ours));
  scene.remark(describeBusy("nginx", rates.theirs));
  const value = ratioOf(
    rates.ours.map(({ perSecond }) => perSecond),
    rates.theirs.map(({ perSecond }) => perSecond),
  );
  return [figure("requests/s", value, "×", "≥", 0.3)];
}

function describeBusy(name: string, rates: readonly Rate[]): string {
  const perSecond = median(rates.map((rate) => rate.perSecond));
  const busy = median(rates.map(({ serverBusy }) => serverBusy));
  const each = median(
    rates.map((rate) => (1e6 * rate.serverBusy) / rate.perSecond),
  );
  return `${name}: ${perSecond.toFixed(0)} requests/s, busy ${(100 * busy).toFixed(0)} %, ${each.toFixed(0)} µs of processor time each`;
}
