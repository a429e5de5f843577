import { existsSync, readFileSync, rmSync, statSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";
import { findUndone } from "../../../src/mirror/trust/undone-decisions.ts";
import { decide } from "../../../src/trust/decisions.ts";
import { awaitMessage } from "../../scenes/log-lines.ts";
import { acme, MirrorScene } from "../../scenes/mirror-in-process.ts";
import { runCommand } from "../../scenes/provider-requests.ts";
import { signer, TrustScene } from "../../scenes/trust-scene.ts";
import { scratch } from "../../running-mirror.ts";
import { restoreBackup } from "../../store/stores.ts";

const scene = await TrustScene.start();

/** The alarms of the start, whose lines are all before the one of serving. */
async function alarms() {
  await awaitMessage(scene.mirror, "serving");
  return scene.mirror.log
    .filter(({ alarm }) => alarm === "decision-undone")
    .map(({ subject, decision, repeat }) => ({ subject, decision, repeat }));
}

async function restore(backup: string): Promise<void> {
  const { directory } = scene.mirror;
  await scene.revive({}, () => restoreBackup(directory, backup));
}

/** Beside the running daemon. */
async function backUp(): Promise<string> {
  const file = join(scratch("backup"), "provender.db");
  const run = await runCommand(scene.mirror, "backup", file);
  expect(run).toMatchObject({ status: 0, stderr: "" });
  expect(statSync(file).mode & 0o777).toBe(0o600);
  return file;
}

it("decisions that an older backup takes back are told at the start, with the commands that make them again", async () => {
  const known = await signer("Known");
  const fine = await signer("Fine");
  await scene.contact("stolen", known);
  await scene.contact("kept", fine);
  await scene.trust("revoke", "--key", fine.fingerprint, "--for", "kept/thing");
  const backup = await backUp();

  const key = known.fingerprint;
  await scene.trust("revoke", "--key", key, "--for", "stolen");
  await scene.expectOutcome("stolen", "1.0.0", "451 key-refused");
  await scene.revive();
  expect(await alarms()).toEqual([]);

  await restore(backup);
  expect(await scene.ask("stolen").outcome("1.0.0")).toBe("200");
  const subject = "registry.terraform.io/stolen";
  const repeat = `provender trust revoke --key ${key} --for ${subject}`;
  expect(await alarms()).toEqual([{ subject, decision: "revoked", repeat }]);
  const status = await runCommand(scene.mirror, "status");
  expect(status).toMatchObject({ status: 1 });
  expect(status.stdout).toMatch(
    /^An older backup took 1 decision back: provender trust list$/m,
  );
  const listed = await runCommand(scene.mirror, "trust", "list");
  expect(listed.stdout).toContain(`${subject}: revoked by`);
  expect(listed.stdout).toContain(`\n  ${repeat}\n`);
  expect(listed.stdout).not.toContain("Nothing needs");
  const json = await runCommand(scene.mirror, "trust", "list", "--json");
  expect(JSON.parse(json.stdout)).toMatchObject({
    undone: [{ subject, decision: "revoked", command: repeat }],
  });

  await scene.trust(...repeat.split(" ").slice(2));
  await scene.expectOutcome("stolen", "1.0.0", "451 key-refused");
  expect(await runCommand(scene.mirror, "status")).toMatchObject({ status: 0 });
  const after = await runCommand(scene.mirror, "trust", "list");
  expect(after.stdout).not.toContain("older backup");
  await scene.revive();
  expect(await alarms()).toEqual([]);
});

it("approvals of contents are told likewise, and approvals that were taken back", async () => {
  const subject = "registry.terraform.io/content/thing@1.1.0";
  await scene.refuseNext("content");
  const [candidate] = await scene.candidatesOf("content");
  const digest = candidate?.sha256sums ?? "";
  const before = await backUp();
  const named = ["content/thing@1.1.0", digest];
  await scene.trust("approve", ...named);
  const approved = await backUp();

  await restore(before);
  expect(await alarms()).toEqual([
    {
      ...{ subject, decision: "approved" },
      repeat: `provender trust approve ${subject} ${digest}`,
    },
  ]);

  await restore(approved);
  expect(await alarms()).toEqual([]);
  await scene.trust("forget", ...named);
  await restore(approved);
  expect(await alarms()).toEqual([
    {
      ...{ subject, decision: "forgotten" },
      repeat: `provender trust forget ${subject} ${digest}`,
    },
  ]);
});

it("a decision that is later than the log's last one was not taken back: another replica made it, or a crash took its line", async () => {
  const own = await MirrorScene.prepare();
  const { trust, notebook } = own.start();
  const provider = "registry.terraform.io/acme/thing";
  const said = { event: "approved", verdict: "accepted" } as const;
  const line = { ...said, provider, fingerprint: "K" };
  await notebook.audit.record(line, { durable: true });
  const undone = async (at: string) => {
    const key = { fingerprint: "K", type: "thing", version: null, at };
    await trust.decide(acme, (decisions) =>
      decide(decisions, { ...key, decision: "revoked" }),
    );
    return findUndone(own.layout.decisions, trust);
  };
  const repeat = `provender trust approve --key K --for ${provider}`;
  const earlier = await undone("2020-01-01T00:00:00.000Z");
  expect(earlier).toMatchObject([{ decision: "approved", repeat }]);
  expect(await undone("2999-01-01T00:00:00.000Z")).toEqual([]);
});

it("a log of decisions that is not there tells nothing", async () => {
  const { directory } = scene.mirror;
  await scene.revive({}, () => {
    rmSync(join(directory, "audit"), { recursive: true });
  });
  expect(await alarms()).toEqual([]);
  expect(readFileSync(join(directory, "store.json"), "utf8")).not.toBe("");
});

it.each([
  ["a file that is there", () => scene.mirror.configFile],
  ["a folder that is not", () => join(scratch("none"), "none", "x")],
  ["the database itself", () => join(scene.mirror.directory, "provender.db")],
])("is not written over %s", async (_, place) => {
  const file = place();
  const before = existsSync(file) ? readFileSync(file) : undefined;
  const run = await runCommand(scene.mirror, "backup", file);
  expect([run.status, run.stdout]).toEqual([1, ""]);
  expect(run.stderr).toContain(`${file} was not written`);
  expect(existsSync(file) ? readFileSync(file) : undefined).toEqual(before);
});
