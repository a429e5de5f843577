import { copyFileSync, existsSync, mkdirSync, rmSync } from "node:fs";
import { dirname, join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { layOutStore } from "../../../src/store/layout.ts";
import { DiskRecords } from "../../../src/store/records/disk-records.ts";
import type { Signer } from "../../fakes/signing.ts";
import {
  listedIn,
  requestsFor,
  runCommand,
} from "../../scenes/provider-requests.ts";
import { TrustScene, signer } from "../../scenes/trust-scene.ts";

let scene: TrustScene;
let known: Signer;
let stranger: Signer;

beforeAll(async () => {
  scene = await TrustScene.start();
  known = await signer("known");
  stranger = await signer("stranger");
});
afterAll(() => scene.stop());

const copies = ["records", "record-copies"];
const nameOf = (namespace: string) => `registry.terraform.io/${namespace}`;

function pathsOf(kind: "seen" | "decisions", namespace: string) {
  const file = join("v1", "trust", kind, `${nameOf(namespace)}.json`);
  return copies.map((copy) => join(scene.mirror.directory, copy, file));
}

/** Removes both copies; what is returned puts one of them back. */
function lose(kind: "seen" | "decisions", namespace: string): () => void {
  const [first = "", ...others] = pathsOf(kind, namespace);
  const backup = join(scene.mirror.directory, `${kind}-${namespace}.backup`);
  copyFileSync(first, backup);
  for (const path of [first, ...others]) rmSync(path);
  return () => {
    mkdirSync(dirname(first), { recursive: true });
    copyFileSync(backup, first);
  };
}

async function statuses(namespace: string, version: string) {
  const ask = scene.ask(namespace);
  const { status } = await ask.version(version);
  return [status, (await ask.archive(version)).status];
}

/** A known key, and a release under another one, which is held back. */
async function holdBack(namespace: string): Promise<void> {
  await scene.contact(namespace, known);
  await scene.publish(namespace, "1.0.1", stranger);
  expect(await statuses(namespace, "1.0.1")).toEqual([451, 451]);
}

async function revoke(namespace: string): Promise<void> {
  await scene.contact(namespace, known);
  const key = ["--key", known.fingerprint];
  await scene.trust("revoke", ...key, nameOf(namespace));
  await expect.poll(() => statuses(namespace, "1.0.0")).toEqual([451, 451]);
}

const alarmsFor = (kind: string, namespace: string) =>
  scene.mirror.log.filter(
    ({ alarm, file }) =>
      alarm === "record-unreadable" &&
      file === `records/v1/trust/${kind}/${nameOf(namespace)}.json`,
  );

describe("a namespace whose record of keys is gone, both copies", () => {
  it("is unknown and not met anew: what was held back is not served, and a restored copy cures it", async () => {
    await holdBack("lost-keys");
    await scene.mirror.kill();
    const restore = lose("seen", "lost-keys");
    await scene.revive();
    expect(await statuses("lost-keys", "1.0.1")).toEqual([503, 503]);
    expect(await statuses("lost-keys", "1.0.0")).toEqual([503, 503]);
    await expect
      .poll(() => alarmsFor("seen", "lost-keys"))
      .toEqual([
        expect.objectContaining({
          problem: expect.stringContaining("missing") as unknown,
          cure: expect.stringContaining("backup") as unknown,
        }),
      ]);
    restore();
    await expect.poll(() => statuses("lost-keys", "1.0.1")).toEqual([451, 451]);
    expect(await statuses("lost-keys", "1.0.0")).toEqual([200, 200]);
    expect(pathsOf("seen", "lost-keys").map(existsSync)).toEqual([true, true]);
  });

  it("is unknown to a daemon that runs meanwhile, also by another provider of the namespace", async () => {
    await holdBack("lost-beside");
    const restore = lose("seen", "lost-beside");
    await expect
      .poll(() => statuses("lost-beside", "1.0.1"))
      .toEqual([503, 503]);
    await scene.publish("lost-beside", "2.0.0", stranger, { type: "other" });
    const other = requestsFor(scene.mirror, "other", "lost-beside");
    expect((await other.version("2.0.0")).status).toBe(503);
    expect(pathsOf("seen", "lost-beside").map(existsSync)).toEqual([
      false,
      false,
    ]);
    restore();
    await expect
      .poll(() => statuses("lost-beside", "1.0.1"))
      .toEqual([451, 451]);
  });

  it("is met as before where releases were recorded by an earlier version", async () => {
    await scene.contact("earlier", known);
    await scene.mirror.kill();
    const records = new DiskRecords(layOutStore(scene.mirror.directory));
    const folder = ["providers", "registry.terraform.io", "earlier", "thing"];
    await records.change(
      [...folder, "releases", "1.0.0"],
      (body) => body as Readonly<Record<string, unknown>>,
      (body) => {
        expect(body).toMatchObject({ hasLedger: true });
        return { ...body, hasLedger: undefined };
      },
    );
    lose("seen", "earlier");
    await scene.revive();
    expect(await statuses("earlier", "1.0.0")).toEqual([200, 200]);
  });
});

describe("a provider whose list is gone, both copies", () => {
  it("is not met anew: what was held back stays so, and so does what came since", async () => {
    await holdBack("lost-list");
    await scene.mirror.kill();
    for (const copy of copies) {
      const folder = join(scene.mirror.directory, copy, "v1", "providers");
      rmSync(join(folder, nameOf("lost-list"), "thing", "versions.json"));
    }
    await scene.publish("lost-list", "1.0.2", stranger);
    await scene.revive();
    expect(listedIn(await scene.ask("lost-list").index())).toEqual(["1.0.0"]);
    expect(await statuses("lost-list", "1.0.0")).toEqual([200, 200]);
    for (const version of ["1.0.1", "1.0.2"])
      expect(await statuses("lost-list", version)).toEqual([451, 451]);
  });
});

describe("a namespace whose record of decisions is gone, both copies", () => {
  it("is undecided: what was revoked is not served, nothing is decided anew, and a restored copy cures it", async () => {
    await revoke("lost-decisions");
    await scene.mirror.kill();
    const restore = lose("decisions", "lost-decisions");
    await scene.revive();
    expect(await statuses("lost-decisions", "1.0.0")).toEqual([503, 503]);
    await expect
      .poll(() => alarmsFor("decisions", "lost-decisions"))
      .toHaveLength(1);
    const again = await runCommand(
      scene.mirror,
      ...["trust", "approve", "--key", stranger.fingerprint],
      nameOf("lost-decisions"),
    );
    expect(again.status).not.toBe(0);
    expect(again.stderr).toContain("restore it from a backup");
    expect(pathsOf("decisions", "lost-decisions").map(existsSync)).toEqual([
      false,
      false,
    ]);
    restore();
    await expect
      .poll(() => statuses("lost-decisions", "1.0.0"))
      .toEqual([451, 451]);
  });

  it("is undecided with its record of keys gone, too", async () => {
    await revoke("lost-both");
    await scene.mirror.kill();
    lose("decisions", "lost-both");
    lose("seen", "lost-both");
    await scene.revive();
    expect(await statuses("lost-both", "1.0.0")).toEqual([503, 503]);
  });
});
