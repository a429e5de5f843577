import { existsSync, readFileSync, statSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";
import { decideContent } from "../../../src/commands/trust/decide.ts";
import { findUndone } from "../../../src/mirror/trust/undone-decisions.ts";
import { decide, noDecisions } from "../../../src/trust/decisions.ts";
import { scratch } from "../../running-mirror.ts";
import { awaitMessage } from "../../scenes/log-lines.ts";
import {
  acme,
  makeSigners,
  prepareMet,
} from "../../scenes/mirror-in-process.ts";
import { runCommand } from "../../scenes/provider-requests.ts";
import { signer, startTrustScene } from "../../scenes/trust-scene.ts";
import { restoreBackup } from "../../store/stores.ts";

it("decisions that an older backup takes back are told at the start, with the commands that make them again", async () => {
  const scene = await startTrustScene();
  const run = (...args: readonly string[]) => runCommand(scene.mirror, ...args);
  /** The alarms of the start, whose lines are all before the one of serving. */
  const alarms = async () => {
    await awaitMessage(scene.mirror, "serving");
    return scene.mirror.log
      .filter(({ alarm }) => alarm === "decision-undone")
      .map(({ subject, decision, repeat }) => ({ subject, decision, repeat }));
  };
  const known = await signer("Known");
  const fine = await signer("Fine");
  await scene.contact("stolen", known);
  await scene.contact("kept", fine);
  await scene.trust("revoke", "--key", fine.fingerprint, "--for", "kept/thing");
  const backup = join(scratch("backup"), "provender.db");
  expect(await run("backup", backup)).toMatchObject({ status: 0, stderr: "" });
  expect(statSync(backup).mode & 0o777).toBe(0o600);

  const key = known.fingerprint;
  await scene.trust("revoke", "--key", key, "--for", "stolen");
  await scene.expectOutcome("stolen", "1.0.0", "451 key-refused");
  await scene.revive();
  expect(await alarms()).toEqual([]);

  const { directory } = scene.mirror;
  await scene.revive(() => restoreBackup(directory, backup));
  expect(await scene.ask("stolen").outcome("1.0.0")).toBe("200");
  const subject = "registry.terraform.io/stolen";
  const repeat = `provender trust revoke --key ${key} --for ${subject}`;
  expect(await alarms()).toEqual([{ subject, decision: "revoked", repeat }]);
  const status = await run("status");
  expect(status).toMatchObject({ status: 1 });
  expect(status.stdout).toMatch(
    /^An older backup took 1 decision back: provender trust list$/m,
  );
  const listed = await run("trust", "list");
  expect(listed.stdout).toContain(`${subject}: revoked by`);
  expect(listed.stdout).toContain(`\n  ${repeat}\n`);
  expect(listed.stdout).not.toContain("Nothing needs");
  const json = await run("trust", "list", "--json");
  expect(JSON.parse(json.stdout)).toMatchObject({
    undone: [{ subject, decision: "revoked", command: repeat }],
  });

  await scene.trust(...repeat.split(" ").slice(2));
  await scene.expectOutcome("stolen", "1.0.0", "451 key-refused");
  expect(await run("status")).toMatchObject({ status: 0 });
  expect((await run("trust", "list")).stdout).not.toContain("older backup");

  const none = join(scratch("none"), "none", "x");
  for (const file of [join(directory, "provender.db"), backup, none]) {
    const before = existsSync(file) ? readFileSync(file) : undefined;
    const refused = await run("backup", file);
    expect([refused.status, refused.stdout]).toEqual([1, ""]);
    expect(refused.stderr).toContain(`${file} was not written`);
    expect(existsSync(file) ? readFileSync(file) : undefined).toEqual(before);
  }
});

it("so are those on contents, and those that were taken back; a later one than the log has is another replica's, or lost its line in a crash", async () => {
  const { scene, mirror } = await prepareMet((await makeSigners()).K);
  const { trust } = mirror;
  const { address } = await mirror.request("2.0.0");
  const restore = (decisions: typeof noDecisions) =>
    trust.decide(acme, () => decisions);
  const undone = async () =>
    (await findUndone(scene.layout.decisions, trust)).map(
      ({ decision, repeat }) => [decision, repeat],
    );
  expect(await undone()).toEqual([]);
  await decideContent(mirror, address, undefined, "revoke");
  expect(await undone()).toEqual([]);
  const { decisions } = await trust.read(acme);
  const [revoked] = decisions.contents;
  if (revoked === undefined) throw new Error("nothing is revoked");
  const about = `registry.terraform.io/acme/thing@2.0.0 ${revoked.sha256sums}`;
  await restore(noDecisions);
  expect(await undone()).toEqual([
    ["revoked", `provender trust revoke ${about}`],
  ]);
  const approve = (at: string) =>
    restore(decide(decisions, { ...revoked, decision: "approved", at }));
  await approve("2020-01-01T00:00:00.000Z");
  expect(await undone()).toHaveLength(1);
  await approve("2999-01-01T00:00:00.000Z");
  expect(await undone()).toEqual([]);
  await restore(decisions);
  await decideContent(mirror, address, undefined, "forget");
  await restore(decisions);
  expect(await undone()).toEqual([
    ["forgotten", `provender trust forget ${about}`],
  ]);
});
