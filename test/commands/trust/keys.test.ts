import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { runCommand } from "../../scenes/provider-requests.ts";
import { signer, TrustScene } from "../../scenes/trust-scene.ts";

const host = "registry.terraform.io";
const stolen = "A".repeat(40);

let scene: TrustScene;

beforeAll(async () => {
  scene = await TrustScene.start();
});

afterAll(() => scene.stop());

const run = (...args: readonly string[]) =>
  runCommand(scene.mirror, "trust", ...args);

describe("a decision on a key", () => {
  it("counts for a namespace, a provider or a release, by the number of parts", async () => {
    const { stranger } = await scene.refuseNext("scopes");
    const other = { type: "other", seed: "scopes" };
    await scene.publish("scopes", "1.1.0", stranger, other);
    await scene.publish("scopes", "1.2.0", stranger);
    const key = ["--key", stranger.fingerprint];
    await scene.trust("approve", ...key, "scopes/thing@1.1.0");
    await scene.expectOutcome("scopes", "1.1.0", "200");
    await scene.expectOutcome("scopes", "1.2.0", "451 key-refused");
    await scene.trust("approve", ...key, "--for", "scopes/thing");
    await scene.expectOutcome("scopes", "1.2.0", "200");
    const revoked = await scene.trust("revoke", ...key, `${host}/scopes`);
    expect(revoked).toMatch(
      /: .*thing 1\.1\.0, thing 1\.2\.0 and later releases under it are refused from now on/,
    );
    await scene.expectOutcome("scopes", "1.1.0", "451 key-refused");
    const wider = await run("approve", ...key, "scopes/thing@1.2.0");
    expect(wider.status).toBe(1);
    expect(wider.stderr).toContain(`--for ${host}/scopes" first`);
    await scene.trust("approve", ...key, "scopes");
    await scene.expectOutcome("scopes", "1.1.0", "200");
    const again = await run("approve", ...key, "scopes");
    expect(again.status).toBe(1);
    expect(again.stdout).toContain("is approved already");
  });

  it("refuses what the key of first contact signed, without a hostname", async () => {
    const known = await signer("Known");
    await scene.contact("incident", known);
    const key = ["--key", known.fingerprint, "incident/thing"];
    expect(await scene.trust("revoke", ...key)).toContain(": thing 1.0.0 and");
    await scene.expectOutcome("incident", "1.0.0", "451 key-refused");
    expect(scene.auditOf("incident", "revoked")).toMatchObject([
      { provider: `${host}/incident/thing`, fingerprint: known.fingerprint },
    ]);
  });

  it("names the revocations that an approval for more does not undo", async () => {
    const { stranger } = await scene.refuseNext("partly");
    const key = ["--key", stranger.fingerprint];
    await scene.trust("revoke", ...key, "partly/thing");
    const approved = await run("approve", ...key, "partly");
    expect(approved.status).toBe(1);
    expect(approved.stderr).toContain(
      `It stays revoked for ${host}/partly/thing`,
    );
  });

  it("is recorded with a warning where it touches nothing", async () => {
    await scene.contact("untouched", await signer("Known"));
    const warned = await run("revoke", "--key", stolen, "untouched/thing");
    expect(warned.status).toBe(1);
    expect(warned.stderr).toContain("touches nothing now");
    expect(await scene.listedTrust("untouched")).toMatchObject({
      keys: [{ fingerprint: stolen, decision: "revoked", type: "thing" }],
    });
  });
});
