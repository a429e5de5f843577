import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { scratch, startMirror } from "../../running-mirror.ts";
import { requestsFor, runCommand } from "../../scenes/provider-requests.ts";
import { TrustScene } from "../../scenes/trust-scene.ts";

const host = "registry.terraform.io";
const nothing = { command: "nothing", sha256sums: "nothing" };
const stolen = "A".repeat(40);

let scene: TrustScene;

beforeAll(async () => {
  scene = await TrustScene.start();
});

afterAll(() => scene.stop());

const run = (...args: readonly string[]) =>
  runCommand(scene.mirror, "trust", ...args);

describe("provender trust list", () => {
  it("has keys, first contacts and candidates by namespace, each with its command", async () => {
    const { known, stranger } = await scene.refuseNext("tabled");
    const [candidate] = await scene.candidatesOf("tabled");
    const { sha256sums = "" } = candidate ?? {};
    const day = String.raw`\d{4}-\d\d-\d\d`;
    expect(await scene.trust("list")).toMatch(
      new RegExp(
        `${host}/tabled\\n` +
          ` {2}KEY +STATE +FOR .*\\n` +
          ` {2}${known.fingerprint} +first key +namespace .* thing\\n` +
          ` {2}FIRST CONTACT +KEY .*\\n` +
          ` {2}thing +${known.fingerprint} +${day} +list +1\\.0\\.0\\n` +
          ` {2}NEEDS A DECISION\\n` +
          ` {2}thing 1\\.1\\.0: key ${stranger.fingerprint}, not known, SHA256SUMS ${sha256sums}, since ${day}\\n` +
          ` {4}provender trust approve ${host}/tabled/thing@1\\.1\\.0 --sha256sums ${sha256sums.slice(0, 16)}\\n`,
      ),
    );
  });

  it("is empty on a store of its own, where a key can be revoked ahead", async () => {
    const empty = await startMirror({ directory: scratch("empty") });
    await empty.stop();
    const nothing = await runCommand(empty, "trust", "list");
    expect([nothing.status, nothing.stdout]).toEqual([
      0,
      "Nothing has been seen yet.\n",
    ]);
    const key = ["--key", stolen, "--for", "acme"];
    const revoke = await runCommand(empty, "trust", "revoke", ...key);
    expect(revoke.status).toBe(0);
    expect(revoke.stdout).toContain("is revoked for");
    expect(revoke.stdout).toContain("in advance");
    const list = await runCommand(empty, "trust", "list");
    expect(list.stdout).toMatch(
      new RegExp(`^${host}/acme\\n.*\\n {2}${stolen} +revoked +namespace `),
    );
  });
});

describe("provender trust", () => {
  it.each([
    [["approve", "acme/thing"]],
    [["approve", "acme/thing@~> 1.0"]],
    [["approve", "acme/thing@1.0.0", "--for", "acme"]],
    [["approve", "--key", "9472D7468F", "acme"]],
    [["approve", "--key", stolen]],
    [["approve", "--key", stolen, "acme", "--sha256sums", "0".repeat(16)]],
    [["approve", "--key", stolen, "registry.terrafrom.io/acme"]],
    [["reset", "acme/thing@1.0.0"]],
    [["forget", "acme/thing@1.0.0"]],
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
    for (const path of ["/alarms", `/why/${name}/1.1.0`])
      expect([path, (await scene.mirror.get(path)).body.toString()]).toEqual([
        path,
        expect.stringContaining(written),
      ]);
    const ask = requestsFor(scene.mirror, "thing", "everywhere");
    const refused = (await ask.version("1.1.0")).body.toString();
    expect(refused.replaceAll('\\"', '"')).toContain(written);
  });
});
