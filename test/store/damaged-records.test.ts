import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { TrustScene, signer } from "../scenes/trust-scene.ts";
import type { Signer } from "../fakes/signing.ts";
import { runCommand } from "../scenes/provider-requests.ts";
import { damageRecord, recordDamages } from "./record-damage.ts";
import { forbiddenOf, trustKinds } from "../scenes/trust-kinds.ts";

let scene: TrustScene;
let known: Signer;

beforeAll(async () => {
  scene = await TrustScene.start();
  known = await signer("known");
});
afterAll(() => scene.stop());

interface Case {
  readonly namespace: string;
  readonly kind: string;
  readonly damage: string;
  readonly record: string;
}

function healedFiles(): readonly unknown[] {
  return scene.mirror.log
    .filter(({ msg }) => String(msg).includes("made again from"))
    .map(({ file }) => file);
}

const all = Object.keys(trustKinds).flatMap((kind, k) =>
  Object.keys(recordDamages).map((damage, d) => ({
    kind,
    damage,
    namespace: `case${k}x${d}`,
  })),
);

describe(`${all.length} kinds of damage to records of trust`, () => {
  it(
    "to one copy heal from the other, and to both are unknown: nothing that was revoked, held back or re-created is served",
    { timeout: 300_000 },
    async () => {
      const cases: Case[] = [];
      for (const one of all) {
        const record =
          (await trustKinds[one.kind]?.(scene, known, one.namespace)) ?? "";
        cases.push({ ...one, record });
      }
      await scene.mirror.kill();
      for (const one of cases)
        damageRecord(scene.mirror.directory, one, ["records"]);
      await scene.revive();
      for (const one of cases) {
        const version = forbiddenOf(one.kind);
        const { status } = await scene.ask(one.namespace).version(version);
        // The pinned content is what a re-created release still has.
        if (one.kind === "pinned checksums")
          expect([one, status]).toEqual([one, 200]);
        else expect([one, status]).toEqual([one, 451]);
      }
      await expect
        .poll(() => new Set(healedFiles()).size)
        .toBeGreaterThanOrEqual(all.length);
      await scene.mirror.kill();
      for (const one of cases) damageRecord(scene.mirror.directory, one);
      await scene.revive();
      for (const one of cases) {
        const { status } = await scene
          .ask(one.namespace)
          .version(forbiddenOf(one.kind));
        const { status: archive } = await scene
          .ask(one.namespace)
          .archive(forbiddenOf(one.kind));
        expect([one, status, archive]).toEqual([one, 503, 503]);
      }
      const alarms = () =>
        scene.mirror.log.filter(({ alarm }) => alarm === "record-unreadable");
      await expect
        .poll(() => new Set(alarms().map(({ file }) => file)).size)
        .toBe(all.length);
      expect(alarms()[0]).toMatchObject({
        remedy: expect.stringContaining("backup") as unknown,
      });
      const listed = await runCommand(scene.mirror, "trust", "list");
      expect(listed.status).toBe(1);
      expect(listed.stderr).toContain("restore it from a backup");
    },
  );
});
