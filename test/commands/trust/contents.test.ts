import { describe, expect, it } from "vitest";
import {
  digestsIn,
  digestsOf,
  eventually,
  runCommand,
} from "../../scenes/provider-requests.ts";
import { signer, soon, TrustScene } from "../../scenes/trust-scene.ts";

const host = "registry.terraform.io";
const nothing = { command: "nothing", sha256sums: "nothing" };

const scene = await TrustScene.start();

const run = (...args: readonly string[]) =>
  runCommand(scene.mirror, "trust", ...args);

/** Arguments of a printed command, behind `provender trust`. */
function argumentsOf(command: string | null | undefined): readonly string[] {
  expect(command).toMatch(/^provender trust /);
  return (command ?? "").split(" ").slice(2);
}

describe("the approval of a content", () => {
  it("takes the only candidate, makes no key known, and is undone completely", async () => {
    const { stranger } = await scene.refuseNext("sole");
    const [candidate] = await scene.candidatesOf("sole");
    const { sha256sums = "none" } = candidate ?? {};
    const output = await scene.trust("approve", "sole/thing@1.1.0");
    expect(output).toContain(`SHA256SUMS ${sha256sums}`);
    expect(output).toContain(stranger.fingerprint);
    expect(await scene.listedTrust("sole")).toMatchObject({
      candidates: [],
      contents: [{ sha256sums }],
      keys: [],
    });
    await scene.expectOutcome("sole", "1.1.0", "200");
    await scene.publish("sole", "1.2.0", stranger);
    await scene.expectOutcome("sole", "1.2.0", "451 key-refused");
    const again = await run("approve", "sole/thing@1.1.0");
    expect([again.status, again.stderr]).toEqual([1, ""]);
    expect(again.stdout).toContain("is approved already");
    const forgotten = await scene.trust("forget", "sole/thing@1.1.0");
    expect(forgotten).toContain(
      `is not decided on with SHA256SUMS ${sha256sums}`,
    );
    expect(forgotten).toMatch(/\nBefore, it was approved by \S+ on \d{4}-/);
    await scene.expectOutcome("sole", "1.1.0", "451 key-refused");
    expect(await scene.listedTrust("sole")).toMatchObject({
      candidates: [{ version: "1.2.0" }, { version: "1.1.0" }],
      contents: [],
    });
  });

  it("takes exactly the row of the printed command, and the pinned content comes back", async () => {
    const known = await signer("Known");
    const first = await scene.publish("rows", "1.0.0", known);
    const served = async () =>
      digestsIn(await scene.ask("rows").version("1.0.0"));
    expect(await served()).toEqual(digestsOf(first));
    const offers = [];
    for (const seed of ["second", "third"]) {
      offers.push(await scene.publish("rows", "1.0.0", known, { seed }));
      expect(await served()).toEqual(digestsOf(first));
    }
    const candidates = await scene.candidatesOf("rows");
    expect(candidates.map(({ reason }) => reason)).toEqual([
      "other-content",
      "other-content",
    ]);
    const unclear = await run("approve", "rows/thing@1.0.0");
    expect(unclear.status).toBe(1);
    for (const { command } of candidates)
      expect(unclear.stderr).toContain(command);
    const [second] = candidates;
    await scene.trust(...argumentsOf(second?.command));
    const wanted = digestsOf(offers[0] ?? first);
    const isWanted = (found: unknown) =>
      JSON.stringify(found) === JSON.stringify(wanted);
    await eventually(served, isWanted, soon);
    expect(await scene.candidatesOf("rows")).toHaveLength(1);
    await scene.trust(
      ...argumentsOf(second?.command?.replace(" approve ", " forget ")),
    );
    await eventually(served, (found) => !isWanted(found), soon);
    expect(await served()).toEqual(digestsOf(first));
    expect(await scene.candidatesOf("rows")).toHaveLength(2);
  });

  it("is refused for what was not named exactly, which changes nothing", async () => {
    await scene.refuseNext("typos");
    const [{ command, sha256sums } = nothing] =
      await scene.candidatesOf("typos");
    const before = await scene.trust("list", "--json");
    const digest = (text: string) => [text];
    const spec = "typos/thing@1.1.0";
    const flipped = sha256sums.startsWith("0") ? "1" : "0";
    for (const [status, says, args] of [
      [
        1,
        "has no content whose",
        ["approve", spec, ...digest(flipped.repeat(8))],
      ],
      [1, command, ["approve", spec, ...digest(flipped.repeat(8))]],
      [2, "8 to 64 hex", ["approve", spec, ...digest(sha256sums.slice(0, 7))]],
      [2, "8 to 64 hex", ["approve", spec, ...digest("unknown-digits")]],
      [1, "trust list", ["approve", "typos/thnig@1.1.0"]],
      [1, "trust list", ["approve", "typos/thing@1.2.0"]],
      [1, "no contents that are decided on", ["forget", spec]],
    ] as const) {
      const failed = await run(...args);
      expect([failed.status, failed.stdout]).toEqual([status, ""]);
      expect(failed.stderr).toContain(says);
    }
    expect(await scene.trust("list", "--json")).toBe(before);
  });

  it("is not made while its key is revoked, which it quotes without advising anything", async () => {
    const { stranger } = await scene.refuseNext("revoked");
    const [{ sha256sums } = nothing] = await scene.candidatesOf("revoked");
    const key = ["--key", stranger.fingerprint, "--for", "revoked/thing"];
    await scene.trust("revoke", ...key);
    expect(await scene.candidatesOf("revoked")).toEqual([]);
    const content = ["revoked/thing@1.1.0", sha256sums];
    const failed = await run("approve", ...content);
    expect(failed.status).toBe(1);
    expect(failed.stderr).toMatch(
      new RegExp(
        `its key ${stranger.fingerprint} was revoked by \\S+ on \\S+ for ${host}/revoked/thing`,
      ),
    );
    expect(failed.stderr).not.toContain("provender trust");
    await scene.trust("forget", ...key);
    await scene.trust("approve", ...content);
    await scene.expectOutcome("revoked", "1.1.0", "200");
  });

  it("waits for the configuration, where pins exclude its key", async () => {
    const { known } = await scene.refuseNext("pinned");
    const match = `${host}/pinned/*`;
    const trust = { keys: [{ match, fingerprints: [known.fingerprint] }] };
    await scene.revive({ trust });
    try {
      expect(await scene.candidatesOf("pinned")).toMatchObject([
        { command: null, setting: "trust.keys" },
      ]);
      const failed = await run("approve", "pinned/thing@1.1.0");
      expect(failed.status).toBe(1);
      expect(failed.stderr).toContain(`"trust.keys" excludes its key`);
    } finally {
      await scene.revive();
    }
    expect((await scene.candidatesOf("pinned"))[0]?.command).not.toBeNull();
  });
});
