import { describe, expect, it } from "vitest";
import type { Release } from "../../fakes/release.ts";
import {
  countAlarms,
  digestsIn,
  runCommand,
} from "../../scenes/provider-requests.ts";
import { layOutStore } from "../../../src/store/layout.ts";
import { loseRecord, readRecord } from "../../store/stores.ts";
import { TrustScene, signer } from "../../scenes/trust-scene.ts";

const scene = await TrustScene.start();
const known = await signer("known");
const stranger = await signer("stranger");

const nameOf = (namespace: string) => `registry.terraform.io/${namespace}`;

/** Records by their path, as the log names them. */
const records = {
  namespace: (namespace: string) => `trust/namespaces/${nameOf(namespace)}`,
  contact: (namespace: string) => `trust/contacts/${nameOf(namespace)}/thing`,
  candidates: (namespace: string) =>
    `trust/candidates/${nameOf(namespace)}/thing`,
  versions: (namespace: string) =>
    `providers/${nameOf(namespace)}/thing/versions`,
} as const;

const isThere = (record: string) =>
  readRecord(scene.mirror.directory, record.split("/")) !== undefined;

const lose = (record: string) =>
  loseRecord(layOutStore(scene.mirror.directory), record.split("/"));

async function statuses(namespace: string, version: string) {
  const ask = scene.ask(namespace);
  const { status } = await ask.version(version);
  return [status, (await ask.archive(version)).status];
}

/** A known key, and a release under another one, which is held back. */
async function holdBack(namespace: string): Promise<Release> {
  const first = await scene.contact(namespace, known);
  await scene.publish(namespace, "1.0.1", stranger);
  expect(await statuses(namespace, "1.0.1")).toEqual([451, 451]);
  return first;
}

async function revoke(namespace: string): Promise<void> {
  await scene.contact(namespace, known);
  const key = ["--key", known.fingerprint];
  await scene.trust("revoke", ...key, "--for", nameOf(namespace));
  await expect.poll(() => statuses(namespace, "1.0.0")).toEqual([451, 451]);
}

const alarmsFor = (record: string) =>
  scene.mirror.log.filter(
    ({ alarm, file }) => alarm === "record-unreadable" && file === record,
  );

const missing = expect.objectContaining({
  problem: expect.stringMatching(/missing.*trust reset/) as unknown,
  remedy: expect.stringContaining("backup") as unknown,
}) as unknown;

describe.each(["namespace", "contact"] as const)(
  "without the record of a %s",
  (kind) => {
    it("what was held back is not served, no other first contact is made, and a restored copy cures it", async () => {
      const namespace = `lost-${kind}`;
      const record = records[kind](namespace);
      await holdBack(namespace);
      await scene.mirror.kill();
      const restore = lose(record);
      await scene.revive();
      expect(await statuses(namespace, "1.0.1")).toEqual([503, 503]);
      expect(await statuses(namespace, "1.0.0")).toEqual([503, 503]);
      expect((await scene.ask(namespace).index()).status).toBe(503);
      await expect.poll(() => alarmsFor(record)[0]).toEqual(missing);
      const listed = await runCommand(scene.mirror, "trust", "list");
      expect(listed.status).toBe(1);
      expect(listed.stderr).toContain(record);
      expect(isThere(record)).toBe(false);
      restore();
      await expect.poll(() => statuses(namespace, "1.0.1")).toEqual([451, 451]);
      expect(await statuses(namespace, "1.0.0")).toEqual([200, 200]);
    });

    it("the next first contact counts after a reset, with an alarm, and pinned checksums still hold", async () => {
      const namespace = `reset-${kind}`;
      const first = await holdBack(namespace);
      await scene.mirror.kill();
      lose(records[kind](namespace));
      await scene.publish(namespace, "1.0.0", stranger, { seed: "re-created" });
      await scene.revive();
      expect(await statuses(namespace, "1.0.0")).toEqual([503, 503]);
      const before = await countAlarms(scene.mirror, "trust-reset");
      const subject =
        kind === "namespace" ? nameOf(namespace) : `${nameOf(namespace)}/thing`;
      const reset = await runCommand(scene.mirror, "trust", "reset", subject);
      expect(reset.status).toBe(0);
      expect(reset.stdout).toContain(
        `The first contact with ${subject} is forgotten`,
      );
      await expect.poll(() => statuses(namespace, "1.0.1")).toEqual([200, 200]);
      expect(await countAlarms(scene.mirror, "trust-reset")).toBe(before + 1);
      const answer = await scene.ask(namespace).version("1.0.0");
      expect(digestsIn(answer)).toEqual({
        linux_amd64: first.archive("linux_amd64").sha256,
      });
      const listed = await scene.listedTrust(namespace);
      expect(listed?.contacts).toMatchObject([
        { type: "thing", key: stranger.fingerprint, newest: "1.0.1" },
      ]);
      expect(listed?.candidates).toMatchObject([
        { version: "1.0.0", reason: "other-content" },
      ]);
    });
  },
);

describe("without the record of a namespace", () => {
  it("what was revoked is not served, nothing is decided, and a restored copy cures it", async () => {
    const record = records.namespace("lost-decisions");
    await revoke("lost-decisions");
    await scene.mirror.kill();
    const restore = lose(record);
    await scene.revive();
    expect(await statuses("lost-decisions", "1.0.0")).toEqual([503, 503]);
    await expect.poll(() => alarmsFor(record)[0]).toEqual(missing);
    const again = await runCommand(
      scene.mirror,
      ...["trust", "approve", "--key", stranger.fingerprint],
      ...["--for", nameOf("lost-decisions")],
    );
    expect(again.status).toBe(1);
    expect(again.stderr).toContain("restore it from a backup");
    expect(isThere(record)).toBe(false);
    restore();
    await expect
      .poll(() => statuses("lost-decisions", "1.0.0"))
      .toEqual([451, 451]);
  });
});

describe("without the record of", () => {
  it("a list, what was held back stays so, and so does what came since", async () => {
    await holdBack("lost-list");
    await scene.mirror.kill();
    lose(records.versions("lost-list"));
    await scene.publish("lost-list", "1.0.2", stranger);
    await scene.revive();
    expect(await scene.ask("lost-list").listed()).toEqual(["1.0.0"]);
    expect(await statuses("lost-list", "1.0.0")).toEqual([200, 200]);
    for (const version of ["1.0.1", "1.0.2"])
      expect(await statuses("lost-list", version)).toEqual([451, 451]);
  });
});
