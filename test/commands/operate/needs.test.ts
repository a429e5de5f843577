import { appendFileSync } from "node:fs";
import { expect, it } from "vitest";
import { alteredByte, onlyFor } from "../../fakes/faults.ts";
import {
  eventually,
  requestsFor,
  runCommand,
} from "../../scenes/provider-requests.ts";
import { TrustScene } from "../../scenes/trust-scene.ts";

const host = "registry.terraform.io";

const lines = (text: string) => text.trimEnd().split("\n");

it("status and trust list name three needs at once, first and in 25 lines", async () => {
  const scene = await TrustScene.start();
  const down = { "down.example.com": { url: "https://127.0.0.1:1/" } };
  const origins = { ...(scene.config.origins as object), ...down };
  await scene.revive({ origins });
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
  expect(lines(stdout).slice(0, 3)).toEqual([
    "The last reload failed, or the next one would, and the configuration before is in use: provender config",
    "3 releases wait for a decision: provender trust list",
    "1 host of origins fails or asks not to be asked: provender doctor",
  ]);
  expect(stdout).toMatch(/^ +archive-tampered +1 +/m);
});
