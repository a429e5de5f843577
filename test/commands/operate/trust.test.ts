import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { scratch, startMirror } from "../../running-mirror.ts";
import { runCommand } from "../../scenes/provider-requests.ts";
import { signer, TrustScene } from "../../scenes/trust-scene.ts";

let scene: TrustScene;

beforeAll(async () => {
  scene = await TrustScene.start();
});

afterAll(() => scene.stop());

describe("provender trust", () => {
  it("lists keys in a table by namespace", async () => {
    const known = await signer("Known");
    await scene.contact("tabled", known);
    expect(await scene.trust("list")).toMatch(
      new RegExp(
        `registry\\.terraform\\.io/tabled\\n` +
          ` {2}KEY +STATE +SINCE +FIRST FOR\\n` +
          ` {2}${known.fingerprint} +first-contact +\\d{4}-\\d\\d-\\d\\d +thing 1\\.0\\.0\\n`,
      ),
    );
  });

  it("works without a daemon, on a store of its own too", async () => {
    const empty = await startMirror({ directory: scratch("empty") });
    await empty.stop();
    const nothing = await runCommand(empty, "trust", "list");
    expect([nothing.status, nothing.stdout]).toEqual([
      0,
      "Nothing has been seen yet.\n",
    ]);
    const json = await runCommand(empty, "trust", "list", "--json");
    expect(json.stdout).toBe("[]\n");
    const revoke = await runCommand(
      empty,
      "trust",
      "revoke",
      "--key",
      "A".repeat(40),
      "registry.terraform.io/acme",
    );
    expect(revoke.status).toBe(0);
    const list = await runCommand(empty, "trust", "list");
    expect(list.stdout).toContain(`${"A".repeat(40)}  revoked`);
  });

  it("takes the approval of a release back", async () => {
    const [known, stranger] = [await signer("Known"), await signer("Stranger")];
    await scene.contact("taken-back", known);
    await scene.publish("taken-back", "1.1.0", stranger);
    await scene.ask("taken-back").index();
    await scene.trust("approve", "taken-back/thing@1.1.0");
    expect(await scene.trust("revoke", "taken-back/thing@1.1.0")).toContain(
      "is approved no more",
    );
    const { decisions } = (await scene.listedTrust("taken-back")) ?? {};
    expect(decisions).toMatchObject({ releases: [] });
  });

  it.each([
    [["approve"]],
    [["approve", "acme/thing"]],
    [["approve", "acme/thing@"]],
    [["approve", "acme/thing@~> 1.0"]],
    [["approve", "acme/thing@1.0.0@2.0.0"]],
    [["approve", "thing@1.0.0"]],
    [["approve", "--key", "9472D7468F", "registry.terraform.io/acme"]],
    [["approve", "--key", "34365D9472D7468F", "registry.terraform.io/acme"]],
    [["approve", "--key", "A".repeat(40), "acme"]],
    [["approve", "--key", "A".repeat(40), "registry.terraform.io/acme/thing"]],
    [["approve", "--key"]],
    [["revoke", "--all"]],
    [["list", "acme"]],
    [["forget", "acme/thing@1.0.0"]],
    [[]],
  ])("has status 2 for %j", async (args) => {
    const { status, stdout, stderr } = await runCommand(
      scene.mirror,
      "trust",
      ...args,
    );
    expect(status).toBe(2);
    expect(stdout).toBe("");
    expect(stderr).not.toBe("");
    expect(stderr).not.toMatch(/^ {4}at /m);
  });
});
