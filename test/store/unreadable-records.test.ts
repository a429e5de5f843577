import { chmodSync, chownSync, lstatSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { forbiddenOf, trustKinds } from "../scenes/trust-kinds.ts";
import { canBeOthers, user } from "../scenes/other-user.ts";
import { TrustScene, signer } from "../scenes/trust-scene.ts";
import type { Signer } from "../fakes/signing.ts";

/** Acts of root on a file of the daemon, after which reading it fails with EACCES. */
const damages: Readonly<Record<string, (path: string) => void>> = {
  "no mode": (path) => chmodSync(path, 0),
  "root's own": (path) => {
    chownSync(path, 0, 0);
    chmodSync(path, 0o600);
  },
};

let scene: TrustScene;
let known: Signer;

beforeAll(async () => {
  if (!canBeOthers) return;
  scene = await TrustScene.start({ user });
  known = await signer("known");
});
afterAll(async () => {
  if (canBeOthers) await scene.stop();
});

const all = Object.keys(trustKinds).flatMap((kind, k) =>
  Object.keys(damages).map((damage, d) => ({
    kind,
    damage,
    namespace: `denied${k}x${d}`,
  })),
);

describe.runIf(canBeOthers)("records that their daemon may not read", () => {
  it(
    "heal from the other copy, and where both are such they are unknown: nothing that was revoked, held back or re-created is served",
    { timeout: 120_000 },
    async () => {
      const cases: ((typeof all)[number] & { readonly record: string })[] = [];
      for (const one of all) {
        const make = trustKinds[one.kind];
        const record = (await make?.(scene, known, one.namespace)) ?? "";
        cases.push({ ...one, record });
      }
      const pathOf = (copy: string, record: string) =>
        join(scene.mirror.directory, copy, "v1", `${record}.json`);
      await scene.mirror.kill();
      for (const { damage, record } of cases)
        damages[damage]?.(pathOf("records", record));
      await scene.revive();
      for (const one of cases) {
        const ask = scene.ask(one.namespace);
        const { status } = await ask.version(forbiddenOf(one.kind));
        // The pinned content is what a re-created release still has.
        const isFirst = one.kind === "pinned checksums";
        expect([one, status]).toEqual([one, isFirst ? 200 : 451]);
        const { uid, mode } = lstatSync(pathOf("records", one.record));
        expect([one, uid, mode & 0o777]).toEqual([one, user, 0o600]);
      }
      await scene.mirror.kill();
      for (const { damage, record } of cases)
        for (const copy of ["records", "record-copies"])
          damages[damage]?.(pathOf(copy, record));
      await scene.revive();
      for (const one of cases) {
        const ask = scene.ask(one.namespace);
        const version = forbiddenOf(one.kind);
        const { status } = await ask.version(version);
        const { status: archive } = await ask.archive(version);
        expect([one, status, archive]).toEqual([one, 503, 503]);
      }
      const findUnreadable = () =>
        scene.mirror.log
          .filter(({ alarm }) => alarm === "record-unreadable")
          .filter(({ problem }) => String(problem).includes("EACCES"));
      await expect
        .poll(() => new Set(findUnreadable().map(({ file }) => file)).size)
        .toBe(all.length);
    },
  );
});
