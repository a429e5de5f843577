import { describe, expect, it } from "vitest";
import type { Signer } from "../../fakes/signing.ts";
import { countAlarms, requestsFor } from "../../scenes/provider-requests.ts";
import { signer, TrustScene } from "../../scenes/trust-scene.ts";

const [first, stranger] = (await Promise.all(
  ["First", "Stranger"].map(signer),
)) as [Signer, Signer];
const scene = await TrustScene.start();

const ask = (namespace: string, type = "thing") =>
  requestsFor(scene.mirror, type, namespace);
const publish = (
  namespace: string,
  type: string,
  version: string,
  by: Signer,
) =>
  scene.publish(namespace, version, by, { type, seed: `${namespace}${type}` });
const held = "451 key-refused";

describe("a compromised registry", () => {
  it("does not make its key known with a new provider of a known namespace", async () => {
    const alarms = () => countAlarms(scene.mirror, "key-new");
    await publish("by-type", "aws", "8.0.0", first);
    expect(await ask("by-type", "aws").delivery("8.0.0")).toBe("200");
    const before = await alarms();
    await publish("by-type", "fresh", "1.0.0", stranger);
    expect(await ask("by-type", "fresh").delivery("1.0.0")).toBe("200");
    expect(await alarms()).toBe(before + 1);
    const refusals = await countAlarms(scene.mirror, "key-refused");
    await publish("by-type", "aws", "9.0.0", stranger);
    expect(await ask("by-type", "aws").delivery("9.0.0")).toBe(held);
    expect(await ask("by-type", "aws").listed()).toEqual(["8.0.0"]);
    expect(await countAlarms(scene.mirror, "key-refused")).toBe(refusals + 1);
    await publish("by-type", "fresh", "1.1.0", stranger);
    expect(await ask("by-type", "fresh").delivery("1.1.0")).toBe("200");
    await publish("by-type", "third", "1.0.0", stranger);
    await ask("by-type", "third").version("1.0.0");
    expect(await alarms()).toBe(before + 2);
  });

  it("does not make its key known with an old release that was not fetched before", async () => {
    await publish("by-age", "aws", "7.0.0", first);
    await publish("by-age", "aws", "8.0.0", first);
    expect(await ask("by-age", "aws").delivery("8.0.0")).toBe("200");
    const alarmsOfKeys = () => countAlarms(scene.mirror, "key-new");
    const alarms = await alarmsOfKeys();
    await publish("by-age", "aws", "7.0.0", stranger);
    expect(await ask("by-age", "aws").delivery("7.0.0")).toBe("200");
    expect(scene.auditOf("by-age", "new-key")).toMatchObject([
      {
        version: "8.0.0",
        rule: "trust: first-contact",
        fingerprint: first.fingerprint,
      },
      {
        version: "7.0.0",
        rule: "trust: existed",
        fingerprint: stranger.fingerprint,
      },
    ]);
    // The registry did not publish the key at first contact.
    expect(await alarmsOfKeys()).toBe(alarms + 1);
    expect(JSON.stringify(await scene.listedTrust("by-age"))).not.toContain(
      stranger.fingerprint,
    );
    const refusals = await countAlarms(scene.mirror, "key-refused");
    await publish("by-age", "aws", "9.0.0", stranger);
    expect(await ask("by-age", "aws").delivery("9.0.0")).toBe(held);
    expect(await countAlarms(scene.mirror, "key-refused")).toBe(refusals + 1);
  });
});
