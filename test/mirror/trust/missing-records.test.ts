import { describe, expect, it } from "vitest";
import type { Release } from "../../fakes/release.ts";
import {
  countAlarms,
  digestsIn,
  runCommand,
} from "../../scenes/provider-requests.ts";
import { layOutStore } from "../../../src/store/layout.ts";
import { loseRecord } from "../../store/stores.ts";
import { TrustScene, signer } from "../../scenes/trust-scene.ts";

const scene = await TrustScene.start();
const known = await signer("known");
const stranger = await signer("stranger");

const nameOf = (namespace: string) => `registry.terraform.io/${namespace}`;

/** Records by their path, as the log names them. */
const records = {
  namespace: (namespace: string) => `trust/namespaces/${nameOf(namespace)}`,
  contact: (namespace: string) => `trust/contacts/${nameOf(namespace)}/thing`,
} as const;

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

describe.each(["namespace", "contact"] as const)(
  "without the record of a %s",
  (kind) => {
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
