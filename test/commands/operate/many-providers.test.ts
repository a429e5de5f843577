import { appendFileSync } from "node:fs";
import { expect, it } from "vitest";
import {
  contactKey,
  namespaceKey,
  writeContact,
} from "../../../src/mirror/trust/trust-store.ts";
import { alteredByte, onlyFor } from "../../fakes/faults.ts";
import { plantRecords } from "../../scenes/planted-records.ts";
import {
  eventually,
  requestsFor,
  runCommand,
} from "../../scenes/provider-requests.ts";
import { TrustScene } from "../../scenes/trust-scene.ts";

const host = "registry.terraform.io";
const key = "A".repeat(40);

/** 2,000 providers that were met, in 100 namespaces. */
const met = Array.from({ length: 100 }, (_, n) => {
  const where = { hostname: host, namespace: `team${n}` } as never;
  const types = Array.from({ length: 20 }, (_, at) => `tool${at}`);
  const contact = writeContact({
    ...{ id: `c${n}`, at: new Date(), by: "list", key, newest: "1.0.0" },
    ...{ versions: new Set(["1.0.0"]), published: new Set([key]) },
  });
  const decisions = { keys: [], contents: [] };
  const firstKey = { fingerprint: key, type: "tool0" };
  const namespace = { firstKey, providerKeys: [], decisions };
  return [
    [namespaceKey(where), namespace] as const,
    ...types.map((type) => {
      const provider = { ...(where as object), type } as never;
      return [contactKey(provider), contact] as const;
    }),
  ];
}).flat();

const lines = (text: string) => text.trimEnd().split("\n");

it("status and trust list name three needs at once in 25 lines, with 2,000 providers", async () => {
  const scene = await TrustScene.start();
  const down = { "down.example.com": { url: "https://127.0.0.1:1/" } };
  const origins = { ...(scene.config.origins as object), ...down };
  await scene.revive({ origins }, () =>
    plantRecords(scene.mirror.directory, met),
  );
  const { mirror } = scene;
  const { known, stranger } = await scene.refuseNext("rotated");
  await scene.contact("other", known);
  await scene.publish("other", "1.1.0", stranger);
  await scene.expectOutcome("other", "1.1.0", "451 key-refused");
  await scene.registry.republish(await scene.contact("again", known));
  await scene.ask("again").version("1.0.0");
  await scene.publish("tampered", "1.0.0", known);
  scene.registry.script("archive", onlyFor(/tampered/, alteredByte()));
  await scene.ask("tampered").archive("1.0.0");
  const decisions = await runCommand(mirror, "trust", "list");
  expect(lines(decisions.stdout).length).toBeLessThanOrEqual(25);
  for (const command of [
    "other/thing@1.1.0 [0-9a-f]{16}",
    `--key ${stranger.fingerprint} --for ${host}/rotated/thing`,
    "again/thing@1.0.0 [0-9a-f]{16}",
  ])
    expect(decisions.stdout).toMatch(
      new RegExp(`^  provender trust approve .*${command}`, "m"),
    );
  const all = await runCommand(mirror, "trust", "list", "--json");
  const { namespaces } = JSON.parse(all.stdout) as {
    readonly namespaces: readonly Record<"contacts" | "candidates", object[]>[];
  };
  expect(namespaces.flatMap((one) => one.contacts)).toHaveLength(2_004);
  expect(namespaces.flatMap((one) => one.candidates)).toHaveLength(3);

  appendFileSync(mirror.configFile, "policy: { minimumAge: banana }\n");
  mirror.process.kill("SIGHUP");
  const ask = async () => {
    for (let n = 0; n < 6; n++)
      await requestsFor(mirror, `p${n}`, "x", "down.example.com").index();
    return runCommand(mirror, "status");
  };
  // Pending decisions are counted once in 10 s.
  const { stdout, status } = await eventually(ask, ({ stdout: text }) =>
    /^3 releases[^]*^1 host/m.test(text),
  );
  expect(status).toBe(1);
  expect(lines(stdout).length).toBeLessThanOrEqual(25);
  const needs = [
    "The last reload failed, or the next one would, and the configuration before is in use: provender config",
    "3 releases wait for a decision: provender trust list",
    "1 host of origins fails or asks not to be asked: provender doctor",
  ];
  expect(lines(stdout).slice(0, 3)).toEqual(needs);
  expect(stdout).toMatch(/^ +archive-tampered +1 +/m);
  const json = await runCommand(mirror, "status", "--json");
  const { needs: named, alarms } = JSON.parse(json.stdout) as {
    readonly needs: readonly Record<"sentence" | "command", string>[];
    readonly alarms: readonly { readonly kind: string }[];
  };
  expect(named.map((one) => `${one.sentence}: ${one.command}`)).toEqual(needs);
  expect(alarms.map(({ kind }) => kind)).toContain("archive-tampered");
});
