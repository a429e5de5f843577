import { expect, it } from "vitest";
import { createAuthority } from "../../fakes/authority.ts";
import { startRegistry } from "../../fakes/registry.ts";
import { originsOf } from "../../origins.ts";
import { scratch, startMirror, type Answer } from "../../running-mirror.ts";
import { requestsFor } from "../../scenes/provider-requests.ts";
import { damageRecord, recordDamages } from "../../store/record-damage.ts";

/** Returns the hashes of linux_amd64 in a VERSION.json. */
function hashesIn(answer: Answer): readonly string[] {
  const { archives } = answer.json() as {
    archives: Record<string, { hashes: string[] }>;
  };
  return archives.linux_amd64?.hashes ?? [];
}

const damages = Object.keys(recordDamages);

it(`${damages.length} kinds of damage to the h1 that was computed of an archive are passed over, and it is computed again from the stored bytes`, async () => {
  const authority = await createAuthority();
  const registry = await startRegistry({ authority });
  const directory = scratch("store");
  const start = () =>
    startMirror({ config: originsOf(authority, registry), directory });
  const cases = await Promise.all(
    damages.map(async (damage, n) => {
      const type = `computed${n}`;
      const release = await registry.publish({ type, version: "1.0.0" });
      return { damage, type, ...release.archive("linux_amd64") };
    }),
  );
  let mirror = await start();
  try {
    for (const { type, bytes, h1 } of cases) {
      const ask = requestsFor(mirror, type);
      const { body } = await ask.archive("1.0.0");
      expect(body.equals(bytes)).toBe(true);
      await expect
        .poll(async () => hashesIn(await ask.version("1.0.0")))
        .toContain(h1);
    }
    await mirror.kill();
    for (const { damage, sha256 } of cases) {
      const record = `package-hashes/${sha256.slice(0, 2)}/${sha256}`;
      damageRecord(directory, { damage, record }, ["records"]);
    }
    mirror = await start();
    for (const { damage, type, h1, sha256 } of cases) {
      const answer = await requestsFor(mirror, type).version("1.0.0");
      expect([damage, hashesIn(answer)]).toEqual([
        damage,
        [`zh:${sha256}`, h1],
      ]);
    }
  } finally {
    await mirror.kill();
    await registry.stop();
  }
});
