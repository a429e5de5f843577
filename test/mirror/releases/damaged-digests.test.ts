import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { createAuthority } from "../../fakes/authority.ts";
import { startRegistry, type Registry } from "../../fakes/registry.ts";
import { makeRelease, type Release } from "../../fakes/release.ts";
import {
  scratch,
  startMirror,
  type Answer,
  type RunningMirror,
} from "../../running-mirror.ts";
import { contentOnly, putIntoTree } from "../../scenes/mirror-tree.ts";
import { removeBlobs } from "../../scenes/module-scene.ts";
import { requestsFor } from "../../scenes/provider-requests.ts";
import { damageRecord, recordDamages } from "../../store/record-damage.ts";

const hostname = "registry.example.com";

let far: Registry;
let caFile: string;
beforeAll(async () => {
  const authority = await createAuthority();
  far = await startRegistry({ authority });
  caFile = join(scratch("ca"), "ca.pem");
  writeFileSync(caFile, authority.caPem);
});
afterAll(() => far.stop());

function start(directory: string): Promise<RunningMirror> {
  const origin = {
    networkMirror: `${far.url}tree/`,
    signatures: "when-published",
    ca: caFile,
  };
  const freshness = { versions: "1ms", notFound: "1ms" };
  const config = { origins: { [hostname]: origin }, freshness };
  return startMirror({ config, directory });
}

interface Case {
  readonly damage: string;
  readonly release: Release;
}

/** Makes a release for each kind of damage; the registry reports only its h1. */
function makeCases(prefix: string, seed: string): Promise<readonly Case[]> {
  return Promise.all(
    Object.keys(recordDamages).map(async (damage, n) => {
      const type = `${prefix}${n}`;
      const release = await makeRelease({ type, version: "1.0.0", seed });
      putIntoTree(far, hostname, release, contentOnly);
      return { damage, release };
    }),
  );
}

const ask = (mirror: RunningMirror, { type }: Release) =>
  requestsFor(mirror, type, "acme", hostname);

const bytesOf = (release: Release) => release.archive("linux_amd64").bytes;

function isOf(answer: Answer, release: Release): boolean {
  return answer.body.equals(bytesOf(release));
}

/** Returns the hashes of linux_amd64 in a VERSION.json. */
function hashesIn(answer: Answer): readonly string[] | number {
  if (answer.status !== 200) return answer.status;
  const { archives } = answer.json() as {
    archives: Record<string, { hashes: string[] }>;
  };
  return archives.linux_amd64?.hashes ?? [];
}

const count = Object.keys(recordDamages).length;

describe(`${count} kinds of damage to what was learnt of an archive`, () => {
  it(
    "never let other bytes through than the first, nor forget them",
    { timeout: 120_000 },
    async () => {
      const directory = scratch("store");
      const cases = await makeCases("learnt", "first");
      const recordOf = ({ damage, release }: Case) => ({
        damage,
        record: `providers/${hostname}/acme/${release.type}/learnt-digests/1.0.0/linux_amd64`,
      });
      let mirror = await start(directory);
      try {
        for (const { release } of cases)
          expect(
            isOf(await ask(mirror, release).archive("1.0.0"), release),
          ).toBe(true);
        await mirror.kill();
        for (const one of cases)
          damageRecord(directory, recordOf(one), ["records"]);
        mirror = await start(directory);
        for (const { damage, release } of cases) {
          const { h1, sha256 } = release.archive("linux_amd64");
          const answer = await ask(mirror, release).version("1.0.0");
          expect([damage, hashesIn(answer)]).toEqual([
            damage,
            [`zh:${sha256}`, h1],
          ]);
        }
        const healed = () =>
          mirror.log
            .filter(({ msg }) => String(msg).includes("made again from"))
            .map(({ file }) => file);
        await expect
          .poll(() => new Set(healed()).size)
          .toBeGreaterThanOrEqual(count);

        const others = await makeCases("learnt", "other");
        await removeBlobs(mirror);
        await mirror.kill();
        for (const one of cases) damageRecord(directory, recordOf(one));
        mirror = await start(directory);
        for (const [n, { damage, release }] of cases.entries()) {
          const other = others[n]?.release ?? release;
          const version = await ask(mirror, release).version("1.0.0");
          const archive = await ask(mirror, release).archive("1.0.0");
          expect([damage, version.status, archive.status]).toEqual([
            damage,
            503,
            503,
          ]);
          expect(isOf(archive, other)).toBe(false);
        }
      } finally {
        await mirror.kill();
      }
    },
  );
});

describe(`${count} kinds of damage to the h1 that was computed of an archive`, () => {
  it("are passed over, and it is computed again from the stored bytes", async () => {
    const directory = scratch("store");
    const cases = await makeCases("computed", "first");
    let mirror = await start(directory);
    try {
      for (const { release } of cases)
        expect(isOf(await ask(mirror, release).archive("1.0.0"), release)).toBe(
          true,
        );
      await mirror.kill();
      for (const { damage, release } of cases) {
        const { sha256 } = release.archive("linux_amd64");
        const record = `package-hashes/${sha256.slice(0, 2)}/${sha256}`;
        damageRecord(directory, { damage, record }, ["records"]);
      }
      mirror = await start(directory);
      for (const { damage, release } of cases) {
        const { h1, sha256 } = release.archive("linux_amd64");
        const answer = await ask(mirror, release).version("1.0.0");
        expect([damage, hashesIn(answer)]).toEqual([
          damage,
          [`zh:${sha256}`, h1],
        ]);
      }
    } finally {
      await mirror.kill();
    }
  });
});
