import { afterAll, afterEach, describe, expect, it } from "vitest";
import * as faults from "../../fakes/faults.ts";
import type { Fault } from "../../fakes/faults.ts";
import type { Registry } from "../../fakes/registry.ts";
import type { RequestKind } from "../../fakes/request-log.ts";
import { parseVersion } from "../../../src/address/version.ts";
import { minute } from "../cache/metadata.ts";
import { startTimedMirror } from "../../scenes/timed-mirror.ts";
import { startOrigin } from "../../scenes/world.ts";

const freshness = 5 * minute;
let names = 0;

const { registry, config } = await startOrigin();
const limits = { firstByte: 1_500, answer: 3_000 };
const mirror = await startTimedMirror(config, {}, undefined, undefined, limits);

afterEach(async () => {
  registry.heal();
  // The mirror probes a suspended origin and finds it well again.
  mirror.clock.pass(freshness);
  await registry.publish({ type: "well", version: "1.0.0" });
  expect((await mirror.index("well")).status).toBe(200);
  registry.requests.clear();
});

afterAll(() => mirror.close());

/** A provider of which version 1.0.0 is stored, and 2.0.0 came out since. */
async function prepareProvider() {
  const type = `widget${(names += 1)}`;
  const first = await registry.publish({ type, version: "1.0.0", size: 9_000 });
  expect((await mirror.index(type)).value).toEqual(["1.0.0"]);
  const stored = await mirror.archive(type, "1.0.0");
  expect(stored.value).toBe(first.archive("linux_amd64").sha256);
  const second = await registry.publish({
    type,
    version: "2.0.0",
    size: 9_000,
  });
  mirror.clock.pass(freshness);
  return { type, first, second };
}

const asked = faults.status(429, { headers: { "Retry-After": "30" } });
const away = faults.status(503, { headers: { "Retry-After": "30" } });
const kinds: readonly RequestKind[] = [
  "discovery",
  "versions",
  "package",
  "checksums",
  "signature",
  "archive",
];
const failures: Readonly<Record<string, Fault>> = {
  "answers 500": faults.status(500),
  "answers 429 with Retry-After": asked,
  "answers 503 with Retry-After": away,
  "answers 401": faults.status(401),
  "sends a page for people": faults.html,
  "sends nonsense": faults.body("{ nonsense"),
  "cuts its body": faults.cut(5),
  "closes the connection": faults.close,
  hangs: faults.hang,
  "redirects to a private address": faults.redirect("https://10.0.0.1/"),
};
const table = kinds.flatMap((kind) =>
  Object.entries(failures).map(([name, fault]) => [kind, name, fault] as const),
);
const counted = {
  ...{ right: 0, stale: 0, errors: 0 },
  ...{ falsehoods: 0, recovered: 0, remembered: 0 },
};

describe("an origin", () => {
  it.each(table)(
    "whose %s %s: stale answers or right errors, and nothing false is remembered",
    async (kind, _, fault) => {
      const { type, first, second } = await prepareProvider();
      registry.script(kind, fault);
      const [index, version, archive, newVersion, newArchive] =
        await Promise.all([
          mirror.index(type),
          mirror.version(type, "1.0.0"),
          mirror.archive(type, "1.0.0"),
          mirror.version(type, "2.0.0"),
          mirror.archive(type, "2.0.0"),
        ]);
      expect([index.status, version.status]).toEqual([200, 200]);
      expect(index.value).toContain("1.0.0");
      expect(JSON.stringify(version.value)).toContain(sha256Of(first));
      expect(archive.value).toBe(sha256Of(first));
      for (const answer of [newVersion, newArchive])
        expect([200, 451, 502, 503, 504]).toContain(answer.status);
      // Only what was signed badly is refused; it is never for us to call it absent.
      const isForged =
        kind === "signature" || kind === "checksums" || kind === "archive";
      if (!isForged) expect(newVersion.status).not.toBe(451);
      expect([sha256Of(second), undefined]).toContain(newArchive.value);
      for (const { status, outcome } of [
        index,
        version,
        newVersion,
        newArchive,
      ])
        counted[
          status !== 200 ? "errors" : outcome === "stale" ? "stale" : "right"
        ]++;
      // An archive that came with other bytes is refused for minutes.
      if (kind === "archive" && newArchive.status === 451) {
        registry.heal();
        expect((await mirror.archive(type, "2.0.0")).status).toBe(451);
        counted.remembered++;
      } else await expectRecovery(type, sha256Of(second));
    },
  );

  it("in all of this was answered for as it should", () => {
    expect(table).toHaveLength(60);
    expect(counted).toMatchObject({
      falsehoods: 0,
      recovered: 59,
      remembered: 1,
    });
    console.log(`${table.length} origin faults: ${JSON.stringify(counted)}`);
  });
});

function sha256Of(release: Awaited<ReturnType<Registry["publish"]>>): string {
  return release.archive("linux_amd64").sha256;
}

/** Asked every ten seconds, everything is right within one period of freshness. */
async function expectRecovery(type: string, digest: string): Promise<void> {
  registry.heal();
  for (let waited = 0; waited <= freshness; waited += 10_000) {
    const index = await mirror.index(type);
    const version = await mirror.version(type, "2.0.0");
    const archive = await mirror.archive(type, "2.0.0");
    for (const { status } of [index, version, archive])
      counted.falsehoods += status === 404 || status === 451 ? 1 : 0;
    const isRight =
      index.value?.includes(parseVersion("2.0.0")) === true &&
      JSON.stringify(version.value ?? "").includes(digest) &&
      archive.value === digest;
    if (isRight) {
      counted.recovered++;
      return;
    }
    mirror.clock.pass(10_000);
  }
}

describe("an origin that is down for an hour", { timeout: 120_000 }, () => {
  it("is not missed by those who want what is known", async () => {
    const { type, first } = await prepareProvider();
    await registry.stop();
    let served = 0;
    let all = 0;
    for (let second = 0; second < 3_600; second += 60) {
      const index = await mirror.index(type);
      const version = await mirror.version(type, "1.0.0");
      const archive = await mirror.archive(type, "1.0.0");
      for (const { status } of [index, version, archive])
        served += status === 200 ? 1 : 0;
      all += 3;
      expect(archive.value).toBe(sha256Of(first));
      if (second > 0) expect(index.outcome).toBe("stale");
      mirror.clock.pass(60_000);
    }
    console.log(`origin down for an hour: ${served} of ${all} answers`);
    expect(served).toBe(all);
    const { age } = await mirror.index(type);
    expect(age).toBeGreaterThanOrEqual(freshness + 60 * minute);
    expect(await mirror.metric("provender_origin_hosts_suspended")).toBe(1);
    expect(mirror.log.join("")).toContain(
      "serving stale metadata while the origin fails",
    );
    const unknown = await mirror.index("never-seen");
    expect([502, 503]).toContain(unknown.status);
    await registry.restart();
    mirror.clock.pass(30_000);
    const { outcome, value } = await mirror.index(type);
    expect([outcome, value]).toEqual(["fetched", ["2.0.0", "1.0.0"]]);
    expect(await mirror.metric("provender_origin_hosts_suspended")).toBe(0);
  });
});

describe(
  "an origin that answers 429 with Retry-After: 30",
  { timeout: 120_000 },
  () => {
    it.each(["discovery", "versions", "package"] as const)(
      "for its %s gets at most one request in 30 s",
      async (kind) => {
        const { type } = await prepareProvider();
        registry.script(kind, asked);
        const times: number[] = [];
        for (let second = 0; second < 600; second++) {
          registry.requests.clear();
          const known = await mirror.index(type);
          const wanted = await mirror.version(type, "2.0.0");
          expect(known.status).toBe(200);
          // Without its own answer the last discovery document will do.
          expect(wanted.status).toBe(
            kind === "discovery" && wanted.status === 200 ? 200 : 503,
          );
          const { length } = registry.requests.list(kind);
          if (second > 0)
            for (let at = 0; at < length; at++) times.push(second);
          mirror.clock.pass(1_000);
        }
        const gaps = times.slice(1).map((time, at) => time - (times[at] ?? 0));
        console.log(`${kind}: ${times.length} requests in 600 s`);
        expect(Math.min(...gaps, 30)).toBeGreaterThanOrEqual(30);
        expect(times.length).toBeLessThanOrEqual(20);
      },
    );
  },
);
