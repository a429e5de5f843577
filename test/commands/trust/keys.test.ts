import { describe, expect, it } from "vitest";
import { runCommand } from "../../scenes/provider-requests.ts";
import { TrustScene } from "../../scenes/trust-scene.ts";

const host = "registry.terraform.io";
const stolen = "A".repeat(40);

const scene = await TrustScene.start();

const run = (...args: readonly string[]) =>
  runCommand(scene.mirror, "trust", ...args);

describe("a decision on a key", () => {
  it("counts for a namespace, a provider or a release, by the number of parts", async () => {
    const { stranger } = await scene.refuseNext("scopes");
    const other = { type: "other", seed: "scopes" };
    await scene.publish("scopes", "1.1.0", stranger, other);
    await scene.publish("scopes", "1.2.0", stranger);
    const key = ["--key", stranger.fingerprint];
    await scene.trust("approve", ...key, "--for", "scopes/thing@1.1.0");
    await scene.expectOutcome("scopes", "1.1.0", "200");
    await scene.expectOutcome("scopes", "1.2.0", "451 key-refused");
    await scene.trust("approve", ...key, "--for", "scopes/thing");
    await scene.expectOutcome("scopes", "1.2.0", "200");
    const revoked = await scene.trust(
      "revoke",
      ...key,
      "--for",
      `${host}/scopes`,
    );
    expect(revoked).toMatch(
      /: .*thing 1\.1\.0, thing 1\.2\.0 and later releases under it are refused from now on/,
    );
    await scene.expectOutcome("scopes", "1.1.0", "451 key-refused");
    const wider = await run("approve", ...key, "--for", "scopes/thing@1.2.0");
    expect(wider.status).toBe(1);
    expect(wider.stderr).toMatch(/revoked by \S+ on \S+ for \S+\/scopes:/);
    await scene.trust("approve", ...key, "--for", "scopes");
    await scene.expectOutcome("scopes", "1.1.0", "200");
    const again = await run("approve", ...key, "--for", "scopes");
    expect(again.status).toBe(1);
    expect(again.stdout).toContain("is approved already");
  });

  it("names the revocations that an approval for more does not undo", async () => {
    const { stranger } = await scene.refuseNext("partly");
    const key = ["--key", stranger.fingerprint];
    await scene.trust("revoke", ...key, "--for", "partly/thing");
    const approved = await run("approve", ...key, "--for", "partly");
    expect(approved.status).toBe(1);
    expect(approved.stdout).toMatch(
      /It stays revoked by \S+ on \S+ for \S+\/partly\/thing\./,
    );
  });

  /** What is decided of the key, what then, how that ends, and what is in force. */
  it.each<
    [
      before: readonly string[],
      decision: string,
      by: "known" | "stranger" | "stolen",
      status: number,
      says: string,
      inForce: string | undefined,
    ]
  >([
    [[], "approve", "stolen", 1, "is not approved, since no", undefined],
    [[], "revoke", "stolen", 0, "in advance", "revoked"],
    [["revoke"], "revoke", "stolen", 1, "already", "revoked"],
    // Who takes a precaution back trusts nobody by it.
    [["revoke"], "approve", "stolen", 1, "provender trust forget", "revoked"],
    [[], "forget", "stolen", 1, "is not decided on for", undefined],
    [[], "revoke", "known", 0, "thing 1.0.0 and", "revoked"],
  ])(
    "after %j: %s a %s key ends with %i and “%s”, and %s is in force",
    async (before, decision, by, status, says, inForce) => {
      const namespace = `table-${[...before, decision, by].join("-")}`;
      const { known, stranger } = await scene.refuseNext(namespace);
      const keys = { known, stranger, stolen: { fingerprint: stolen } };
      const { fingerprint } = keys[by];
      const of = ["--key", fingerprint, "--for", `${namespace}/thing`];
      for (const earlier of before) await scene.trust(earlier, ...of);
      const ended = await run(decision, ...of);
      expect(ended.stdout + ended.stderr).toContain(says);
      expect(ended.status).toBe(status);
      const listed = await scene.listedTrust(namespace);
      expect(
        listed?.keys.find((key) => key.fingerprint === fingerprint)?.decision,
      ).toBe(inForce);
      const served = (name: string) => (name === by ? inForce : undefined);
      await scene.expectOutcome(
        namespace,
        "1.0.0",
        served("known") === "revoked" ? "451 key-refused" : "200",
      );
      await scene.expectOutcome(
        namespace,
        "1.1.0",
        served("stranger") === "approved" ? "200" : "451 key-refused",
      );
      const written = ["approved", "revoked", "forgotten"].flatMap((event) =>
        scene.auditOf(namespace, event),
      );
      const count = before.length + (status === 0 ? 1 : 0);
      const line = `${host}/${namespace}/thing ${fingerprint}`;
      expect(
        written.map((one) => `${one.provider} ${one.fingerprint}`),
      ).toEqual(Array.from({ length: count }, () => line));
    },
  );
});
