import { queryObjects } from "node:v8";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { parseVersion } from "../../../src/address/version.ts";
import { providerAddress } from "../../../src/address/provider-address.ts";
import { layOutStore } from "../../../src/store/layout.ts";
import { DiskRecords } from "../../../src/store/records/disk-records.ts";
import { prepareStorageDirectory } from "../../../src/store/storage-directory.ts";
import { parsePlatform } from "../../../src/address/platform.ts";
import { mergeVersions } from "../../../src/mirror/versions/version-list.ts";
import {
  providerVersionNaming,
  VersionRecords,
} from "../../../src/mirror/versions/version-records.ts";
import { createAuthority, type Authority } from "../../fakes/authority.ts";
import { status } from "../../fakes/faults.ts";
import { startRegistry, type Registry } from "../../fakes/registry.ts";
import { originsOf } from "../../origins.ts";
import { scratch } from "../../running-mirror.ts";
import {
  startTimedMirror,
  type TimedMirror,
} from "../../scenes/timed-mirror.ts";

/** Looking for objects of a class collects all garbage first. */
const collect = () => queryObjects(VersionRecords);

const hostname = "registry.terraform.io";
const releases = 400;
const platforms = [
  ..."darwin freebsd linux openbsd windows".split(" "),
].flatMap((os) => ["386", "amd64", "arm64"].map((arch) => `${os}_${arch}`));

const kinds = [
  ["large", platforms],
  ["small", ["linux_amd64"]],
] as const;

let authority: Authority;
let registry: Registry;
const directory = scratch("held");

/** Bytes that are alive, in the heap and outside it. */
async function held(): Promise<number> {
  for (let n = 0; n < 4; n++) {
    await new Promise((resolve) => setImmediate(resolve));
    collect();
  }
  const { heapUsed, arrayBuffers } = process.memoryUsage();
  return heapUsed + arrayBuffers;
}

function addressOf(type: string, patch: number) {
  return {
    provider: providerAddress(hostname, "acme", type),
    version: parseVersion(`1.0.${patch}`),
  };
}

/** Asks for every release; returns the memory used and the weight its caches count. */
async function fillMirror(
  mirror: TimedMirror,
  type: string,
): Promise<{ readonly real: number; readonly weighed: number }> {
  const { core } = mirror;
  const find = async (patch: number) => {
    const address = addressOf(type, patch);
    const origin = core.catalog.originOf(address.provider);
    const { rules } = core.admission;
    return core.catalog.findRelease(
      await core.admission.openVersion(address, { origin, rules }),
    );
  };
  await find(0);
  const before = await held();
  for (let patch = 1; patch < releases; patch++) await find(patch);
  registry.requests.clear();
  const real = (await held()) - before;
  let weighed = 0;
  for (let patch = 1; patch < releases; patch++)
    weighed += core.releases.weigh((await find(patch)).value);
  return { real, weighed };
}

const mebi = (bytes: number) => (bytes / 1024 / 1024).toFixed(1);

beforeAll(async () => {
  authority = await createAuthority();
  registry = await startRegistry({ authority });
  for (let patch = 0; patch < releases; patch++)
    for (const [type, some] of kinds)
      await registry.publish({
        type,
        version: `1.0.${patch}`,
        platforms: some,
        size: 1,
      });
}, 120_000);
afterAll(() => registry.stop());

describe("lists of versions that are held in memory", () => {
  it("take at most their estimated size", async () => {
    const layout = layOutStore(scratch("lists"));
    await prepareStorageDirectory(layout);
    const records = new VersionRecords(
      new DiskRecords(layout),
      providerVersionNaming,
    );
    const lists = Array.from({ length: 40 }, (_, n) =>
      providerAddress(hostname, "acme", `list${n}`),
    );
    const versions = Array.from({ length: releases }, (_, patch) => ({
      version: parseVersion(`1.0.${patch}`),
      protocols: ["5.0"],
      platforms: platforms.map(parsePlatform),
    }));
    const now = new Date();
    const value = mergeVersions(
      "acme/list",
      undefined,
      { versions, warnings: [] },
      now,
    );
    for (const list of lists)
      await records.write(list, { value, confirmedAt: now }, undefined);
    await records.read(lists[0] ?? expect.fail());
    const before = await held();
    const read = await Promise.all(lists.map((list) => records.read(list)));
    const real = (await held()) - before;
    const weighed = read.reduce(
      (sum, kept) => sum + records.weigh(kept?.value ?? expect.fail()),
      0,
    );
    console.info(
      `${lists.length} lists: ${mebi(real)} MiB held, ${mebi(weighed)} MiB weighed`,
    );
    expect(real).toBeLessThan(1.5 * weighed);
    expect(weighed).toBeLessThan(3 * real);
  });
});

describe("providers of one namespace that are held in memory", () => {
  it(
    "do not each hold what was known of all others",
    { timeout: 120_000 },
    async () => {
      const many = await createAuthority();
      const origin = await startRegistry({ authority: many });
      const count = 400;
      for (let n = 0; n < count; n++)
        await origin.publish({
          type: `one-of-${n}`,
          version: "1.0.0",
          size: 1,
        });
      const mirror = await startTimedMirror(originsOf(many, origin));
      const fill = async (from: number, to: number) => {
        const before = await held();
        for (let n = from; n < to; n++) {
          // Every other one teaches no key, and is remembered for that.
          if (n % 2 === 0) origin.heal();
          else origin.script("checksums", status(404));
          await mirror.version(`one-of-${n}`, "1.0.0");
        }
        origin.requests.clear();
        return (await held()) - before;
      };
      await fill(0, 20);
      const first = await fill(20, 210);
      const second = await fill(210, count);
      console.info(`190 providers: ${mebi(first)} MiB, ${mebi(second)} MiB`);
      expect(second).toBeLessThan(1.5 * first);
      await mirror.close();
      await origin.stop();
    },
  );
});

describe("releases that are held in memory", () => {
  it.each([
    ["of fifteen platforms, fetched", "large"],
    ["of fifteen platforms, read from their records", "large"],
    ["of one platform, fetched", "small"],
    ["of one platform, read from their records", "small"],
  ])(
    "take at most their estimated size: %s",
    { timeout: 120_000 },
    async (how, type) => {
      const mirror = await startTimedMirror(
        originsOf(authority, registry),
        {},
        directory,
      );
      const { real, weighed } = await fillMirror(mirror, type);
      console.info(
        `${releases} releases, ${how}: ${mebi(real)} MiB held, ${mebi(weighed)} MiB weighed`,
      );
      expect(real).toBeLessThan(1.5 * weighed);
      expect(weighed).toBeLessThan(3 * real);
      await mirror.close();
    },
  );
});
