import { describe, expect, it } from "vitest";
import type { Signer } from "../../fakes/signing.ts";
import {
  countAlarms,
  listedIn,
  outcomeOf,
  requestsFor,
  runCommand,
} from "../../scenes/provider-requests.ts";
import { signer, soon, TrustScene } from "../../scenes/trust-scene.ts";
import { eventually } from "../../scenes/provider-requests.ts";

const [first, own, stranger] = (await Promise.all(
  ["First", "Own", "Stranger"].map(signer),
)) as [Signer, Signer, Signer];
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

/** Namespaces are met through another provider, providers through their own newest release. */
const places = [
  {
    place: "namespace new, provider new",
    meetsNamespace: false,
    meetsProvider: false,
  },
  {
    place: "namespace known, provider new",
    meetsNamespace: true,
    meetsProvider: false,
  },
  {
    place: "namespace known, provider known",
    meetsNamespace: true,
    meetsProvider: true,
  },
];

describe.each(places)("$place", ({ place, meetsNamespace, meetsProvider }) => {
  const prefix = place.replaceAll(/[^a-z]+/g, "-");

  /** A provider whose first list has old releases by `by` and a newest one by its own key. */
  async function meet(namespace: string, by: Signer): Promise<void> {
    await publish(namespace, "thing", "0.1.0", by);
    await publish(namespace, "thing", "1.0.0", own);
    if (meetsNamespace) {
      await publish(namespace, "other", "1.0.0", first);
      expect((await ask(namespace, "other").version("1.0.0")).status).toBe(200);
    }
    if (meetsProvider)
      expect((await ask(namespace).version("1.0.0")).status).toBe(200);
  }

  it.each([
    [
      "that existed at first contact counts for itself alone under an unknown key",
      () => stranger,
      "200",
      held,
    ],
    ["by the provider's own key goes on", () => own, "200", "200"],
    [
      "by the namespace's key goes on where the namespace was met",
      () => first,
      "200",
      meetsNamespace ? "200" : held,
    ],
  ])("a release %s", async (name, signerOf, existed, appearing) => {
    const by = signerOf();
    const namespace = `${prefix}-${name.length}`;
    await meet(namespace, by);
    expect(outcomeOf(await ask(namespace).archive("0.1.0"))).toBe(existed);
    await publish(namespace, "thing", "2.0.0", by);
    expect(outcomeOf(await ask(namespace).version("2.0.0"))).toBe(appearing);
    expect(outcomeOf(await ask(namespace).archive("2.0.0"))).toBe(appearing);
    const listed = listedIn(await ask(namespace).index());
    expect(listed.includes("2.0.0")).toBe(appearing === "200");
    expect(listed).toContain("0.1.0");
  });

  it("a release under a revoked key is refused, whenever it came", async () => {
    const namespace = `${prefix}-revoked`;
    await meet(namespace, stranger);
    const of = `registry.terraform.io/${namespace}`;
    const { stdout, status } = await runCommand(
      scene.mirror,
      ...["trust", "revoke", "--key", stranger.fingerprint, "--for", of],
    );
    // No release under it was admitted yet.
    expect(status).toBe(0);
    expect(stdout).toContain(
      `${stranger.fingerprint} is revoked for ${of} in advance`,
    );
    await eventually(
      async () => outcomeOf(await ask(namespace).version("0.1.0")),
      (outcome) => outcome === held,
      soon,
    );
    await publish(namespace, "thing", "2.0.0", stranger);
    expect(outcomeOf(await ask(namespace).version("2.0.0"))).toBe(held);
    expect((await ask(namespace).archive("1.0.0")).status).toBe(200);
  });
});

describe("a compromised registry", () => {
  it("does not make its key known with a new provider of a known namespace", async () => {
    const alarms = () => countAlarms(scene.mirror, "key-new");
    await publish("by-type", "aws", "8.0.0", first);
    expect((await ask("by-type", "aws").archive("8.0.0")).status).toBe(200);
    const before = await alarms();
    await publish("by-type", "fresh", "1.0.0", stranger);
    expect((await ask("by-type", "fresh").archive("1.0.0")).status).toBe(200);
    expect(await alarms()).toBe(before + 1);
    const refusals = await countAlarms(scene.mirror, "key-refused");
    await publish("by-type", "aws", "9.0.0", stranger);
    expect(outcomeOf(await ask("by-type", "aws").archive("9.0.0"))).toBe(held);
    expect(listedIn(await ask("by-type", "aws").index())).toEqual(["8.0.0"]);
    expect(await countAlarms(scene.mirror, "key-refused")).toBe(refusals + 1);
    await publish("by-type", "fresh", "1.1.0", stranger);
    expect((await ask("by-type", "fresh").archive("1.1.0")).status).toBe(200);
    await publish("by-type", "third", "1.0.0", stranger);
    await ask("by-type", "third").version("1.0.0");
    expect(await alarms()).toBe(before + 2);
  });

  it("does not make its key known with an old release that was not fetched before", async () => {
    await publish("by-age", "aws", "7.0.0", first);
    await publish("by-age", "aws", "8.0.0", first);
    expect((await ask("by-age", "aws").archive("8.0.0")).status).toBe(200);
    const alarmsOfKeys = () => countAlarms(scene.mirror, "key-new");
    const alarms = await alarmsOfKeys();
    await publish("by-age", "aws", "7.0.0", stranger);
    expect((await ask("by-age", "aws").archive("7.0.0")).status).toBe(200);
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
    expect(outcomeOf(await ask("by-age", "aws").archive("9.0.0"))).toBe(held);
    expect(await countAlarms(scene.mirror, "key-refused")).toBe(refusals + 1);
  });
});
