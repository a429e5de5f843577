import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { scratch, startMirror } from "../../running-mirror.ts";
import {
  eventually,
  outcomeOf,
  requestsFor,
  runCommand,
} from "../../scenes/provider-requests.ts";
import { signer, soon, TrustScene } from "../../scenes/trust-scene.ts";

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
    expect(JSON.parse(json.stdout)).toEqual({
      version: 1,
      namespaces: [],
      problems: [],
    });
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
    [
      ["approve", "typos/thnig@1.1.0"],
      /thnig 1\.1\.0 is neither held back .*typos\/thing@1\.1\.0/,
    ],
    [["approve", "typos/thing@1.2.0"], /1\.2\.0 is neither held back nor/],
    [["approve", "nobody/thing@1.0.0"], /neither held back nor re-created now/],
    [["revoke", "typos/thing@1.1.0"], /is not approved/],
  ])(
    "has status 1 and one sentence for %j, which changes nothing",
    async (args, problem) => {
      const [known, stranger] = [
        await signer("Known"),
        await signer("Stranger"),
      ];
      if ((await scene.listedTrust("typos")) === undefined) {
        await scene.contact("typos", known);
        await scene.publish("typos", "1.1.0", stranger);
        await scene.ask("typos").index();
      }
      const before = await scene.trust("list", "--json");
      const run = await runCommand(scene.mirror, "trust", ...args);
      expect([run.status, run.stdout]).toEqual([1, ""]);
      expect(run.stderr).toMatch(problem);
      expect(run.stderr.trim().split("\n")).toHaveLength(1);
      expect(await scene.trust("list", "--json")).toBe(before);
    },
  );

  it("approves a version ahead, under the one key that was named", async () => {
    const [known, next] = [await signer("Known"), await signer("Next")];
    await scene.contact("ahead", known);
    const spec = "ahead/thing@2.0.0";
    const flags = ["--ahead", "--key", next.fingerprint, "--because", "told"];
    expect(await scene.trust("approve", ...flags, spec)).toContain("ahead");
    expect(await scene.trust("list")).toMatch(
      new RegExp(
        `APPROVED .*\\n {2}thing@2\\.0\\.0 +ahead +${next.fingerprint} .* told\\n`,
      ),
    );
    expect(scene.auditOf("ahead", "approved")).toMatchObject([
      {
        version: "2.0.0",
        because: "told",
        operator: expect.any(String) as string,
      },
    ]);
    await scene.publish("ahead", "2.0.0", next);
    await scene.publish("ahead", "2.0.1", next);
    expect((await scene.ask("ahead").archive("2.0.0")).status).toBe(200);
    expect(outcomeOf(await scene.ask("ahead").archive("2.0.1"))).toBe(
      "451 key-refused",
    );
    expect(await scene.trust("revoke", spec)).toContain("is approved no more");
    await eventually(
      async () => outcomeOf(await scene.ask("ahead").archive("2.0.0")),
      (outcome) => outcome === "451 key-refused",
      soon,
    );
  });

  it("makes an approved key known for its provider, or for the namespace when it is told", async () => {
    const [known, next] = [await signer("Known"), await signer("Next")];
    const other = { type: "other", seed: "scopes" };
    await scene.contact("scopes", known);
    await scene.publish("scopes", "1.0.0", known, other);
    const ask = requestsFor(scene.mirror, "other", "scopes");
    await ask.version("1.0.0");
    await scene.publish("scopes", "1.1.0", next);
    await scene.publish("scopes", "1.1.0", next, other);
    for (const one of [ask, scene.ask("scopes")])
      expect(outcomeOf(await one.version("1.1.0"))).toBe("451 key-refused");
    await scene.trust("approve", "scopes/thing@1.1.0");
    await scene.publish("scopes", "1.2.0", next);
    await eventually(
      async () => outcomeOf(await scene.ask("scopes").version("1.2.0")),
      (outcome) => outcome === "200",
      soon,
    );
    expect(outcomeOf(await ask.version("1.1.0"))).toBe("451 key-refused");
    await scene.trust("approve", "--scope", "namespace", "scopes/other@1.1.0");
    await scene.publish("scopes", "1.2.0", next, other);
    await eventually(
      async () => outcomeOf(await ask.version("1.2.0")),
      (outcome) => outcome === "200",
      soon,
    );
    const provider = ["--scope", "provider", "scopes/other"];
    expect(
      await scene.trust("revoke", "--key", next.fingerprint, ...provider),
    ).toMatch(/: other 1\.1\.0, other 1\.2\.0 and whatever comes under it/);
    await eventually(
      async () => outcomeOf(await ask.version("1.2.0")),
      (outcome) => outcome === "451 key-refused",
      soon,
    );
    expect((await scene.ask("scopes").version("1.2.0")).status).toBe(200);
  });

  it("does not approve a release whose key is revoked", async () => {
    const [known, bad] = [await signer("Known"), await signer("Bad")];
    await scene.contact("bad", known);
    await scene.publish("bad", "1.1.0", bad);
    await scene.ask("bad").index();
    const key = ["--key", bad.fingerprint, "registry.terraform.io/bad"];
    await scene.trust("revoke", ...key);
    const run = await runCommand(
      scene.mirror,
      "trust",
      "approve",
      "bad/thing@1.1.0",
    );
    expect(run.status).toBe(1);
    expect(run.stderr).toMatch(/because the key .* is revoked/);
  });

  it.each([
    [["approve", "--ahead", "acme/thing@1.0.0"]],
    [["approve", "--scope", "all", "acme/thing@1.0.0"]],
    [["approve"]],
    [["approve", "acme/thing"]],
    [["approve", "acme/thing@"]],
    [["approve", "acme/thing@~> 1.0"]],
    [["approve", "acme/thing@1.0.0@2.0.0"]],
    [["approve", "thing@1.0.0"]],
    [["approve", "--key", "9472D7468F", "registry.terraform.io/acme"]],
    [["approve", "--key", "34365D9472D7468F", "registry.terraform.io/acme"]],
    [["approve", "--key", "A".repeat(40), "acme"]],
    [["revoke", "--key", "A".repeat(40), "registry.terraform.io/acme-"]],
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
