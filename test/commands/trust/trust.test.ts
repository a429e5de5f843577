import { describe, expect, it } from "vitest";
import { requestsFor, runCommand } from "../../scenes/provider-requests.ts";
import { TrustScene } from "../../scenes/trust-scene.ts";
import { makeStorage } from "../storage.ts";

const host = "registry.terraform.io";
const nothing = { command: "nothing", sha256sums: "nothing" };
const stolen = "A".repeat(40);

const scene = await TrustScene.start();

const run = (...args: readonly string[]) =>
  runCommand(scene.mirror, "trust", ...args);

describe("provender trust list", () => {
  it("has what needs a decision with its commands, and with --all keys and first contacts", async () => {
    const { known, stranger } = await scene.refuseNext("tabled");
    const [candidate] = await scene.candidatesOf("tabled");
    const { sha256sums = "" } = candidate ?? {};
    const day = String.raw`\d{4}-\d\d-\d\d`;
    const lines = (await scene.trust("list")).split("\n");
    const at = lines.findIndex((line) => line.startsWith(`${host}/tabled/`));
    expect(lines[0]).toMatch(/^NEEDS A DECISION: /);
    expect(lines[at]).toMatch(
      new RegExp(
        `^${host}/tabled/thing 1\\.1\\.0: key ${stranger.fingerprint}, not known, SHA256SUMS ${sha256sums}, since ${day}$`,
      ),
    );
    expect(lines.slice(at + 1, at + 3)).toEqual([
      `  provender trust approve ${host}/tabled/thing@1.1.0 ${sha256sums.slice(0, 16)}`,
      `  provender trust approve --key ${stranger.fingerprint} --for ${host}/tabled/thing  # all that this key signs`,
    ]);
    expect(lines.join()).not.toContain(known.fingerprint);
    expect(await scene.trust("list", "--all")).toMatch(
      new RegExp(
        `${host}/tabled\\n` +
          ` {2}KEY +STATE +FOR .*\\n` +
          ` {2}${known.fingerprint} +first key +namespace .* thing\\n` +
          ` {2}FIRST CONTACT +KEY .*\\n` +
          ` {2}thing +${known.fingerprint} +${day} +list +1\\.0\\.0\\n`,
      ),
    );
  });

  it("is empty on a store of its own, where a key can be revoked ahead", async () => {
    const empty = makeStorage({});
    const nothing = await runCommand(empty, "trust", "list");
    expect([nothing.status, nothing.stdout]).toEqual([
      0,
      "Nothing needs a decision.\n",
    ]);
    const key = ["--key", stolen, "--for", "acme"];
    const revoke = await runCommand(empty, "trust", "revoke", ...key);
    expect(revoke.status).toBe(0);
    expect(revoke.stdout).toContain("is revoked for");
    expect(revoke.stdout).toContain("in advance");
    const list = await runCommand(empty, "trust", "list", "--all");
    expect(list.stdout).toMatch(
      new RegExp(`\n${host}/acme\\n.*\\n {2}${stolen} +revoked +namespace `),
    );
  });
});

describe("provender trust", () => {
  it.each([
    [["approve", "acme/thing"]],
    [["approve", "acme/thing@~> 1.0"]],
    [["approve", "acme/thing@1.0.0", "--for", "acme"]],
    [["approve", "--key", "9472D7468F", "--for", "acme"]],
    [["approve", "--key", stolen]],
    [["approve", "--key", stolen, "acme", "--for", "acme"]],
    [["approve", "--key", stolen, "acme", "0".repeat(16)]],
    [["approve", "--key", stolen, "--for", "registry.terrafrom.io/acme"]],
    [["reset", "acme/thing@1.0.0"]],
    [["approve", "acme/thing@1.0.0", "--sha256sums", "0".repeat(16)]],
  ])("has status 2 for %j", async (args) => {
    const { status, stdout, stderr } = await run(...args);
    expect(status).toBe(2);
    expect(stdout).toBe("");
    expect(stderr).not.toBe("");
    expect(stderr).not.toMatch(/^ {4}at /m);
  });

  it("shows the same candidates and commands everywhere", async () => {
    await scene.refuseNext("everywhere");
    const [{ command } = nothing] = await scene.candidatesOf("everywhere");
    const written = String(command);
    const name = `${host}/everywhere/thing`;
    const explain = await runCommand(scene.mirror, "explain", `${name}@1.1.0`);
    expect(explain.stdout).toContain(written);
    for (const path of ["/decisions", `/why/${name}/1.1.0`])
      expect([path, (await scene.mirror.get(path)).body.toString()]).toEqual([
        path,
        expect.stringContaining(written),
      ]);
    const ask = requestsFor(scene.mirror, "thing", "everywhere");
    const refused = (await ask.version("1.1.0")).body.toString();
    expect(refused.replaceAll('\\"', '"')).toContain(written);
  });
});
